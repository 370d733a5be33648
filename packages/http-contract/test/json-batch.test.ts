import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AppendRecord,
  decodeJsonAppendBatch,
  jsonAppendRecordOf,
  jsonHeadersOf,
  jsonReadRecordSchema,
  recordOfJson,
} from '../src/index.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

test('what is told in JSON comes out as it went in, whatever its bytes', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 10 }),
    fc
      .string({ unit: 'binary', maxLength: 10 })
      .filter((text) => text.isWellFormed())
      .map(utf8),
  )
  const name = fc.oneof(bytes, fc.constantFrom('a', 'b', '0', '10', '__proto__', 'constructor', '').map(utf8))
  const record: fc.Arbitrary<AppendRecord> = fc.record({
    key: fc.option(bytes),
    value: fc.option(bytes),
    headers: fc.array(fc.record({ key: name, value: fc.option(bytes) }), { maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (records) => {
      const text = JSON.stringify({ records: records.map(jsonAppendRecordOf) })
      expect(decodeJsonAppendBatch(text)).toEqual({ records })
      for (const one of records) {
        const json = jsonReadRecordSchema.parse(
          JSON.parse(JSON.stringify({ seq: 1, timestamp: -1, ...jsonAppendRecordOf(one) })),
        )
        expect(recordOfJson(json)).toEqual({ seq: 1, timestamp: -1, ...one })
      }
    }),
  )
})

describe('headers', () => {
  const header = (key: string, value: string | Uint8Array | null) => ({
    key: utf8(key),
    value: typeof value === 'string' ? utf8(value) : value,
  })

  test('are an object where that holds them', () => {
    expect(jsonHeadersOf([header('b', '1'), header('a', '2')])).toEqual({ b: '1', a: '2' })
  })

  test.each([
    [
      'repeated names',
      [header('a', '1'), header('a', '2')],
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['bytes', [header('a', Uint8Array.of(255))], [['a', { b64: '/w==' }]]],
    ['nulls', [header('a', null)], [['a', null]]],
    [
      'names that an object would sort',
      [header('b', '1'), header('1', '2')],
      [
        ['b', '1'],
        ['1', '2'],
      ],
    ],
    ['names that are no text', [{ key: Uint8Array.of(255), value: utf8('x') }], [[{ b64: '/w==' }, 'x']]],
  ])('are pairs where there are %s', (_what, headers, pairs) => {
    expect(jsonHeadersOf(headers)).toEqual(pairs)
  })
})

test('a problem says which record has it', () => {
  expect(decodeJsonAppendBatch('{"records":[{"body":"a"},{"body":1}]}').problem).toMatch(/^records\[1\]\.body: /)
  expect(decodeJsonAppendBatch('{"records":[{"body_b64":"%"}]}').problem).toBe('records[0]: is not base64')
})
