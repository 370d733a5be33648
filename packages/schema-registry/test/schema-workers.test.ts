import { BatchBuilder } from '@pico/record-batch'
import { expect, test } from 'vitest'
import { SchemaUnavailableError } from '../src/errors.ts'
import type { LoadedSchema } from '../src/workers/schema-workers.ts'
import { plain, sourceOf, utf8, workersUnderTest } from './schemas-under-test.ts'

const person = sourceOf('json', {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, code: { pattern: '^(a+)+$' } },
})
const hostile = utf8(JSON.stringify({ name: 'x', code: `${'a'.repeat(40)}b` }))
const good = utf8('{"name":"Ada"}')

test('values are held to a schema that is sent to a worker once', async () => {
  const workers = workersUnderTest({ workers: 1 })
  const schema = { schemaId: 7, source: person }
  for (let round = 0; round < 2; round++) {
    expect(await workers.judgeValues(schema, plain, [good, utf8('{"name":1}'), null])).toEqual([
      { index: 1, path: '/name', reason: 'must be string' },
      { index: 2, path: '', reason: 'a record without a value, which only a compacted topic takes' },
    ])
  }
})

test('records of a batch are judged by their number, whatever it is compressed with', async () => {
  const workers = workersUnderTest({ workers: 1 })
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
    const builder = new BatchBuilder({ codec })
    for (const value of ['{"name":"a"}', '{}', '{"name":"b"}', '[]']) builder.append({ timestamp: 0, key: null, value })
    const batch = builder.build()
    const sent = batch.slice()
    expect(await workers.judgeBatch({ schemaId: 1, source: person }, plain, batch)).toEqual([
      { index: 1, path: '', reason: "must have required property 'name'" },
      { index: 3, path: '', reason: 'must be object' },
    ])
    expect(batch).toEqual(sent)
  }
})

test('what cannot be read as records passes, for the gate to refuse', async () => {
  const workers = workersUnderTest({ workers: 1 })
  const builder = new BatchBuilder({ codec: 'zstd' })
  builder.append({ timestamp: 0, key: null, value: '{}' })
  const batch = builder.build()
  const schema = { schemaId: 1, source: person }
  expect(await workers.judgeBatch(schema, plain, batch)).toHaveLength(1)
  for (const length of [0, 10, 30, batch.length - 1]) {
    expect(await workers.judgeBatch(schema, plain, batch.subarray(0, length))).toEqual([])
  }
})

test('a batch that takes too long is refused at the record that did, and others are judged meanwhile', async () => {
  const workers = workersUnderTest({ workers: 2, deadlineMs: 1000 })
  const slow = { schemaId: 1, source: person }
  const quick = { schemaId: 2, source: person }
  const judge = (schema: LoadedSchema, ...values: Uint8Array[]) => workers.judgeValues(schema, plain, values)
  // Both workers are up when a batch is judged while another takes a while.
  const aWhile = utf8(JSON.stringify({ name: 'x', code: `${'a'.repeat(18)}b` }))
  for (let first = ''; first !== 'quick'; ) {
    const taking = judge({ schemaId: 3, source: person }, aWhile).then(() => 'slow')
    first = await Promise.race([taking, judge(quick, good).then(() => 'quick')])
    await taking
  }
  await judge(slow, good)

  const ended: string[] = []
  const judgeHostile = async () => {
    const judged = await judge(slow, good, hostile)
    ended.push('hostile')
    expect(judged).toEqual([{ index: 1, path: '', reason: 'validation took longer than 1000 ms' }])
  }
  const judgeGood = async () => {
    expect(await judge(quick, good)).toEqual([])
    ended.push('good')
  }
  // Nobody knows yet that they are slow: they have one worker all the same.
  const hostileBatches = [judgeHostile(), judgeHostile(), judgeHostile()]
  await judgeGood()
  await Promise.race(hostileBatches)
  // That was the end of a worker. The next of them has to wait for another, the good ones have one.
  await judgeGood()
  await Promise.all(hostileBatches)
  await judgeGood()
  expect(ended).toEqual(['good', 'hostile', 'good', 'hostile', 'hostile', 'good'])
})

test('a worker that runs out of memory is the end of its batch, not of the process', async () => {
  const workers = workersUnderTest({ workers: 1, heapMb: 48, deadlineMs: 10_000 })
  // Every item is an error of its own for each of the alternatives.
  const source = sourceOf('json', {
    anyOf: Array.from({ length: 40 }, () => ({ items: { anyOf: [{ const: 1 }, { const: 2 }, { const: 3 }] } })),
    items: { anyOf: [{ type: 'null' }, { allOf: [{ not: { type: 'boolean' } }] }] },
  })
  const values = [utf8('[]'), utf8(`[${'{},'.repeat(400_000)}{}]`)]
  const judged = await workers.judgeValues({ schemaId: 1, source }, plain, values)
  expect(judged).toHaveLength(1)
  expect(judged[0]?.index).toBe(1)
  expect(await workers.judgeValues({ schemaId: 1, source }, plain, [utf8('[]')])).toEqual([])
})

test('a schema that takes too long to compile is refused, and records are judged meanwhile', async () => {
  const workers = workersUnderTest({ workers: 1, deadlineMs: 300 })
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: 'string', minLength: i }]),
  )
  const compiling = workers.compile(
    sourceOf('json', { properties, allOf: Array.from({ length: 20 }, () => ({ properties })) }),
  )
  expect(await workers.judgeValues({ schemaId: 1, source: person }, plain, [good])).toEqual([])
  const { problems } = await compiling
  expect(problems).toHaveLength(1)
  expect(problems[0]?.reason).toMatch(/^compiling it takes more than (3000 ms of work|128 MiB of memory)$/)
})

test('a schema that does not compile is unavailable to records', async () => {
  const workers = workersUnderTest({ workers: 1 })
  const source = sourceOf('json', { type: 'objekt' })
  await expect(workers.judgeValues({ schemaId: 3, source }, plain, [good])).rejects.toThrow(SchemaUnavailableError)
  await expect(workers.judgeValues({ schemaId: 3, source }, plain, [good])).rejects.toThrow(SchemaUnavailableError)
})

test('workers that cannot start are told from records that are bad, and are tried again', async () => {
  const workers = workersUnderTest({ workerUrl: new URL('./no-such-worker.ts', import.meta.url) })
  for (let round = 0; round < 2; round++) {
    await expect(workers.judgeValues({ schemaId: 1, source: person }, plain, [good])).rejects.toThrow(
      SchemaUnavailableError,
    )
  }
})

test('closing ends what waits', async () => {
  const workers = workersUnderTest({ workers: 1, deadlineMs: 5000 })
  const schema = { schemaId: 1, source: person }
  await workers.judgeValues(schema, plain, [good])
  const running = [hostile, good].map((value) => workers.judgeValues(schema, plain, [value]))
  const ends = Promise.allSettled(running)
  await workers.close()
  for (const end of await ends)
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'PICO_SCHEMA_UNAVAILABLE' } })
  await expect(workers.judgeValues(schema, plain, [good])).rejects.toThrow('closed')
})

test('when too much waits, what comes is told to come again', async () => {
  const workers = workersUnderTest({ workers: 1 })
  const schema = { schemaId: 1, source: sourceOf('avro', '"bytes"') }
  const value = new Uint8Array(40 * 1024 * 1024)
  const ends = await Promise.allSettled(Array.from({ length: 8 }, () => workers.judgeValues(schema, plain, [value])))
  expect(ends.map(({ status }) => status).sort()).toEqual([...Array(6).fill('fulfilled'), ...Array(2).fill('rejected')])
  expect(await workers.judgeValues(schema, plain, [Uint8Array.of(0)])).toEqual([])
})
