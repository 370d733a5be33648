import { BatchBuilder } from '@pico/record-batch'
import { expect, test } from 'vitest'
import type { SchemaKind } from '../src/schema.ts'
import { plain, sourceOf, utf8, workersUnderTest } from './schemas-under-test.ts'

const mib = 1024 * 1024

/** Null where it depends on the machine whether there is time for it: then it may be good, or be refused for that. */
test('whatever a schema is, there is an answer in bounded time and memory', { timeout: 90_000 }, async () => {
  const workers = workersUnderTest({ deadlineMs: 100, heapMb: 128 })
  const repeated = (count: number, part: (i: number) => string, separator = ',') =>
    Array.from({ length: count }, (_, i) => part(i)).join(separator)
  const schemas: readonly (readonly [what: string, kind: SchemaKind, text: string, isGood: boolean | null])[] = [
    ['10 MB of white space', 'json', `${' '.repeat(10 * mib)}{}`, null],
    ['1 MB of an enum', 'json', `{"enum":[${repeated(140_000, (i) => String(i))}]}`, null],
    ['10 MB of opening brackets', 'json', '['.repeat(10 * mib), false],
    ['100 000 schemas within each other', 'json', `${'{"not":'.repeat(100_000)}{}${'}'.repeat(100_000)}`, false],
    [
      'thousands of definitions',
      'json',
      `{"definitions":{${repeated(5000, (i) => `"d${i}":{"properties":{"n":{"$ref":"#/definitions/d${(i + 1) % 5000}"}}}`)}},"$ref":"#/definitions/d0"}`,
      null,
    ],
    [
      'more definitions than there may be',
      'json',
      `{"definitions":{${repeated(25_000, (i) => `"d${i}":{"items":{"$ref":"#/definitions/d${i + 1}"}}`)},"d25000":{}},"$ref":"#/definitions/d0"}`,
      false,
    ],
    [
      'a chain of references',
      'json',
      `{"definitions":{${repeated(10_000, (i) => `"d${i}":{"$ref":"#/definitions/d${i + 1}"}`)},"d10000":{"$ref":"#/definitions/d0"}},"$ref":"#/definitions/d0"}`,
      false,
    ],
    ['a recursive record', 'avro', '{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}', true],
    ['1 MB of symbols', 'avro', `{"type":"enum","name":"E","symbols":[${repeated(100_000, (i) => `"s${i}"`)}]}`, null],
    [
      '50 000 arrays within each other',
      'avro',
      `${'{"type":"array","items":'.repeat(50_000)}"int"${'}'.repeat(50_000)}`,
      false,
    ],
    [
      'records that name each other',
      'avro',
      `[${repeated(3000, (i) => `{"type":"record","name":"R${i}","fields":[{"name":"a","type":${i === 0 ? '"int"' : `["null","R${i - 1}"]`}}]}`)}]`,
      null,
    ],
    [
      '1 MB of fields',
      'protobuf',
      `syntax="proto3"; message M { ${repeated(40_000, (i) => `int32 f${i} = ${i < 18_000 ? i + 1 : i + 10_000};`, ' ')} }`,
      null,
    ],
    ['1 MB that is never closed', 'protobuf', `message M { ${'message N { '.repeat(90_000)}`, false],
    ['1 MB of a comment', 'protobuf', `/*${'*'.repeat(mib)}`, false],
    ['1 MB of one name', 'protobuf', 'a'.repeat(mib), false],
  ]
  for (const [what, kind, text, isGood] of schemas) {
    const { problems } = await workers.compile(sourceOf(kind, text))
    expect(JSON.stringify(problems).length, what).toBeLessThan(2000)
    if (isGood !== null) expect(problems.length === 0, `${what}: ${JSON.stringify(problems)}`).toBe(isGood)
  }
  const source = sourceOf('json', '{"type":"object"}')
  expect(await workers.judgeValues({ schemaId: 1, source }, plain, [utf8('{}')])).toEqual([])
})

test('whatever a value is, there is an answer in bounded time and memory', { timeout: 90_000 }, async () => {
  const workers = workersUnderTest({ deadlineMs: 500, heapMb: 128 })
  const jsonMax = (128 * mib) / 32
  const filled = (open: string, part: string, close: string) =>
    utf8(`${open}${part.repeat(Math.floor((jsonMax - open.length - close.length) / part.length))}${close}`)
  const schemas = {
    anything: sourceOf('json', '{"type":"array"}'),
    unique: sourceOf('json', '{"uniqueItems":true}'),
    recursive: sourceOf('json', '{"additionalProperties":{"$ref":"#"},"items":{"$ref":"#"}}'),
    choices: sourceOf(
      'json',
      `{"items":{"anyOf":[${Array.from({ length: 50 }, (_, i) => `{"required":["p${i}"]}`).join(',')}]}}`,
    ),
    list: sourceOf('avro', { type: 'record', name: 'L', fields: [{ name: 'l', type: { type: 'array', items: 'L' } }] }),
    nulls: sourceOf('avro', { type: 'array', items: 'null' }),
    message: sourceOf('protobuf', 'syntax="proto3"; message M { repeated M m = 1; repeated int32 i = 2; }'),
  }
  const values: readonly (readonly [what: string, keyof typeof schemas, Uint8Array, isGood: boolean | null])[] = [
    ['as many objects as fit', 'anything', filled('[{}', ',{}', ']'), null],
    ['as many lists as fit', 'anything', filled('[[]', ',[]', ']'), null],
    ['as many numbers as fit', 'anything', filled('[1', ',1.5', ']'), null],
    ['more than fits', 'anything', filled('[1', ',1', ',1]'), null],
    ['more than JSON may be', 'anything', new Uint8Array(jsonMax + 1).fill(0x20), false],
    ['400 000 numbers', 'unique', utf8(`[${Array.from({ length: 400_000 }, (_, i) => i).join(',')}]`), null],
    ['400 000 objects', 'unique', utf8(`[${Array.from({ length: 300_000 }, (_, i) => `{"a":${i}}`).join(',')}]`), null],
    ['lists within lists', 'recursive', utf8(`${'['.repeat(450_000)}${']'.repeat(450_000)}`), false],
    ['objects within objects', 'recursive', utf8(`${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`), false],
    ['many alternatives, none of which holds', 'choices', filled('[{}', ',{}', ']'), false],
    ['empty lists within each other', 'list', new Uint8Array(900 * 1024).fill(2), false],
    [
      'as many empty lists as there are bytes',
      'list',
      Uint8Array.from([0xfe, 0xff, 0x3f, ...new Uint8Array(524_287), 0]),
      true,
    ],
    ['2^40 nulls', 'nulls', Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0), false],
    [
      'as many nulls as may be, again and again',
      'nulls',
      new Uint8Array(900 * 1024).map((_, i) => [0x80, 0x80, 0x04][i % 3] ?? 0),
      false,
    ],
    ['empty messages', 'message', new Uint8Array(900 * 1024).map((_, i) => (i % 2 === 0 ? 0x0a : 0)), true],
    [
      'packed numbers that never end',
      'message',
      Uint8Array.from([0x12, 0xfc, 0xff, 0x37, ...new Uint8Array(917_500).fill(0xff)]),
      false,
    ],
  ]
  for (const [what, name, value, isGood] of values) {
    const schema = { schemaId: Object.keys(schemas).indexOf(name) + 1, source: schemas[name] }
    const judged = await workers.judgeValues(schema, plain, [value])
    if (isGood !== null) expect(judged.length === 0, `${what}: ${JSON.stringify(judged)}`).toBe(isGood)
  }
})

test('a batch unpacks to so much and no more', { timeout: 60_000 }, async () => {
  const workers = workersUnderTest({ workers: 1, deadlineMs: 30_000 })
  const schema = { schemaId: 1, source: sourceOf('avro', '"bytes"') }
  const judge = (sizeMib: number) => {
    const builder = new BatchBuilder({ codec: 'zstd' })
    for (let i = 0; i < sizeMib; i += 16) builder.append({ timestamp: 0, key: null, value: new Uint8Array(16 * mib) })
    return workers.judgeBatch(schema, plain, builder.build())
  }
  // A datum of no bytes, with all the rest after it.
  expect(await judge(64)).toHaveLength(4)
  expect(await judge(144)).toEqual([{ index: 0, path: '', reason: 'the batch unpacks to more than 134217728 bytes' }])
})
