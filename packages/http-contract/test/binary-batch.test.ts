import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AppendRecord,
  decodeAppendBatch,
  decodeReadBatch,
  encodeAppendBatch,
  encodeReadBatch,
  type ReadRecord,
} from '../src/index.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

const plain: AppendRecord[] = [
  { key: null, value: utf8('one'), headers: [{ key: utf8('k'), value: utf8('v') }] },
  { key: null, value: utf8(''), headers: [] },
]
const rich: AppendRecord[] = [
  { timestamp: 1_700_000_000_000, key: utf8('key'), value: utf8('body'), headers: [{ key: utf8('h'), value: null }] },
  { key: null, value: null, headers: [] },
]
const read: ReadRecord[] = [
  {
    seq: 7,
    timestamp: 1_700_000_000_000,
    key: utf8('key'),
    value: utf8('x'),
    headers: [{ key: utf8('h'), value: utf8('y') }],
  },
  { seq: 8, timestamp: -1, key: null, value: null, headers: [] },
]

/** Lines of hex, with what they are; written by hand from the format's description. */
function golden(name: string): Uint8Array {
  const text = readFileSync(new URL(`../golden/${name}.hex`, import.meta.url), 'utf8')
  const hex = text
    .split('\n')
    .map((line) => line.split('#')[0])
    .join('')
    .replaceAll(/\s/g, '')
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

describe('the bytes', () => {
  test('of an append in version 1', () => {
    expect(encodeAppendBatch(plain)).toEqual(golden('append-1'))
    expect(decodeAppendBatch(golden('append-1')).records).toEqual(plain)
  })

  test('of an append in version 2', () => {
    expect(encodeAppendBatch(rich)).toEqual(golden('append-2'))
    expect(decodeAppendBatch(golden('append-2')).records).toEqual(rich)
  })

  test('of a read in version 1, which leaves keys out and makes nulls empty', () => {
    expect(encodeReadBatch(read, 1)).toEqual(golden('read-1'))
    expect(decodeReadBatch(golden('read-1')).records).toEqual([
      { ...read[0], key: null },
      { ...read[1], value: utf8('') },
    ])
  })

  test('of a read in version 2', () => {
    expect(encodeReadBatch(read, 2)).toEqual(golden('read-2'))
    expect(decodeReadBatch(golden('read-2')).records).toEqual(read)
  })

  test('are what older clients send and expect', () => {
    // From a test of an existing client of version 1: one record "x" at 0.
    const bytes = Uint8Array.from([
      1,
      0,
      0,
      0,
      1,
      ...Array(8).fill(0),
      ...Array(8).fill(0),
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      1,
      0x78,
    ])
    expect(decodeReadBatch(bytes).records).toEqual([{ seq: 0, timestamp: 0, key: null, value: utf8('x'), headers: [] }])
  })
})

describe.each(['append-1', 'append-2', 'read-1', 'read-2'])('%s', (name) => {
  const bytes = golden(name)
  const decode = name.startsWith('read') ? decodeReadBatch : decodeAppendBatch

  test('cut off anywhere is a problem', () => {
    for (let end = 0; end < bytes.length; end++) {
      expect([end, typeof decode(bytes.subarray(0, end)).problem]).toEqual([end, 'string'])
    }
  })

  test('with a byte too many is a problem', () => {
    expect(decode(Uint8Array.from([...bytes, 0])).problem).toBe('1 bytes follow the last record')
  })

  test('with any byte changed is records or a problem, and nothing else', () => {
    const damage = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (changes) => {
        const changed = Uint8Array.from(bytes)
        for (const [at, value] of changes) changed[at] = value
        const { records, problem } = decode(changed)
        expect((records === undefined) !== (problem === undefined)).toBe(true)
      }),
    )
  })
})

test.each([
  ['another version', [0, 0, 0, 0, 0], 'batch version 0 is neither 1 nor 2'],
  ['nothing', [], 'batch version missing is neither 1 nor 2'],
  ['billions of records', [1, 255, 255, 255, 255], '4294967295 records do not fit in the 0 bytes that follow'],
  [
    'billions of headers',
    [1, 0, 0, 0, 1, 255, 255, 255, 255, 0, 0, 0, 0],
    '4294967295 headers do not fit in the 4 bytes that follow',
  ],
  [
    'a length below -1',
    [2, 0, 0, 0, 1, ...Array(8).fill(0), 255, 255, 255, 254, 0, 0, 0, 0, 0, 0, 0, 0],
    'a length of -2',
  ],
])('%s is a problem', (_what, bytes, problem) => {
  expect(decodeAppendBatch(Uint8Array.from(bytes))).toEqual({ problem })
})

test('what is encoded decodes to the same', () => {
  const bytes = fc.uint8Array({ maxLength: 20 })
  const header = fc.record({ key: bytes, value: fc.option(bytes) })
  const record = fc.record({
    key: fc.option(bytes),
    value: fc.option(bytes),
    headers: fc.array(header, { maxLength: 3 }),
  })
  const timestamp = fc.nat(Number.MAX_SAFE_INTEGER)
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          record,
          record.chain((one) => timestamp.map((at) => ({ ...one, timestamp: at }))),
        ),
      ),
      (records) => {
        expect(decodeAppendBatch(encodeAppendBatch(records)).records).toEqual(records)
      },
    ),
  )
  fc.assert(
    fc.property(
      fc.array(fc.record({ seq: timestamp, timestamp: fc.integer({ min: -1, max: 2 ** 48 }), content: record })),
      (given) => {
        const records = given.map(({ content, ...position }) => ({ ...position, ...content }))
        expect(decodeReadBatch(encodeReadBatch(records, 2)).records).toEqual(records)
      },
    ),
  )
})
