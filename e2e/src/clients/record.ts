import { createHash } from 'node:crypto'

/** A record as the application of any client sees it. */
export interface TestRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[]
}

export interface ReadRecord extends TestRecord {
  readonly offset: number
  readonly timestampMs: number
}

/**
 * SHA-256 over key, value and headers, each with its length (-1 for null), so that no two different records share one.
 * Records are compared by it because a failing comparison of 900 KiB values is unreadable.
 */
export function digest(record: TestRecord): string {
  const hash = createHash('sha256')
  const part = (bytes: Buffer | null) => {
    hash.update(`${bytes?.length ?? -1}:`)
    if (bytes !== null) hash.update(bytes)
  }
  part(record.key)
  part(record.value)
  for (const [name, value] of record.headers) {
    part(Buffer.from(name))
    part(value)
  }
  return hash.digest('hex')
}

/** One line about a record, for a failing test: which one it was, and its digest. */
export function describeRecord(record: TestRecord): string {
  const size = (bytes: Buffer | null) => bytes?.length ?? 'null'
  return `key ${size(record.key)} value ${size(record.value)} headers ${record.headers.length} sha256 ${digest(record).slice(0, 16)}`
}

/** What a client can be made to send at all. */
export interface WriterLimits {
  readonly nullHeaderValues: boolean
  readonly binaryHeaderValues: boolean
  /** Neither key nor value. */
  readonly recordsOfNothing: boolean
}

/**
 * The records every client writes: null, empty and binary keys and values, headers (empty, binary, repeated names),
 * values of 1 byte to 900 KiB, half of them compressible. The same on every run.
 * Header bytes never hold `,` or `=`, which kcat prints unescaped.
 */
export function testRecords(limits: WriterLimits): TestRecord[] {
  const random = randomBytesFrom(20_240_607)
  const text = (length: number) =>
    Buffer.from('the same words again and again, '.repeat(length / 32 + 1)).subarray(0, length)
  const printable = (byte: number) => 0x61 + (byte % 26)
  const headerBytes = (length: number) =>
    Buffer.from(
      random(length).map(
        limits.binaryHeaderValues ? (byte) => (byte === 0x2c || byte === 0x3d ? 0x2b : byte) : printable,
      ),
    )
  const plain: TestRecord[] = [1, 2, 10, 127, 128, 1000, 4096, 65_536, 300_000].flatMap((length) => [
    { key: random(8), value: random(length), headers: [] },
    { key: null, value: text(length), headers: [] },
  ])
  return [
    ...plain,
    { key: random(1), value: null, headers: [] },
    ...(limits.recordsOfNothing ? [{ key: null, value: null, headers: [] }] : []),
    { key: Buffer.from('empty value'), value: Buffer.alloc(0), headers: [] },
    { key: Buffer.alloc(0), value: Buffer.from('empty key'), headers: [] },
    { key: random(5000), value: random(100), headers: [] },
    {
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: [
        ['name', Buffer.from('value')],
        ['empty', Buffer.alloc(0)],
        ['binary', headerBytes(300)],
        ['twice', Buffer.from('first')],
        ['twice', Buffer.from('second')],
        ['naïve ☃', headerBytes(3)],
        ...(limits.nullHeaderValues ? [['null', null] as const] : []),
      ],
    },
    { key: null, value: random(20), headers: [['only', headerBytes(2000)]] },
    { key: Buffer.from('large'), value: random(900 * 1024), headers: [] },
    { key: null, value: text(900 * 1024), headers: [['large', Buffer.from('yes')]] },
    { key: Buffer.from('last'), value: random(1), headers: [] },
  ]
}

/** A seeded generator (xorshift32): fast enough for megabytes, and incompressible. */
function randomBytesFrom(seed: number): (length: number) => Buffer {
  let state = seed
  return (length) => {
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length; at++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      bytes[at] = state & 0xff
    }
    return bytes
  }
}
