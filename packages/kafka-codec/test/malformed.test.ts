import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Codec, CodecError, fetch, heartbeat, metadata, produce } from '../src/index.ts'
import { everyCodec } from './every-codec.ts'
import { goldenStruct, type Variant } from './golden-values.ts'

// Errors by the hundred thousand: their stack traces would take most of the time, as would vitest's own `expect`.
Error.stackTraceLimit = 0

/** One message for each codec, and one with unknown tags; versions that look the same on the wire count once. */
const samples = [
  ...new Map(
    everyCodec
      .flatMap(({ title, codec, fields }) =>
        (['full', 'unknown'] satisfies Variant[])
          .filter((variant) => codec.flexible || variant === 'full')
          .map((variant) => ({
            title: `${title} ${variant}`,
            codec,
            bytes: codec.encode(goldenStruct(fields, { version: codec.version, variant })),
          })),
      )
      .map((sample) => [`${sample.codec.name} ${Buffer.from(sample.bytes).toString('hex')}`, sample]),
  ).values(),
]

function codecErrorOf(codec: Codec<object, object>, bytes: Uint8Array): CodecError | undefined {
  try {
    codec.decode(bytes)
    return undefined
  } catch (error) {
    if (error instanceof CodecError) return error
    throw error
  }
}

test('every prefix of a message is a CodecError that names the message, its version and the offset', {
  timeout: 60_000,
}, () => {
  for (const { title, codec, bytes } of samples) {
    for (let length = 0; length < bytes.length; length++) {
      const error = codecErrorOf(codec, bytes.subarray(0, length))
      assert.ok(error !== undefined, `${title}, ${length} of ${bytes.length} bytes`)
      assert.equal(error.code, 'PICO_KAFKA_DECODE_FAILED')
      assert.equal(`${error.api} v${error.version}`, `${codec.name} v${codec.version}`)
      assert.ok(error.offset !== undefined && error.offset >= 0 && error.offset <= length, error.message)
    }
  }
})

test('a message with bytes after it is a CodecError', { timeout: 60_000 }, () => {
  for (const { title, codec, bytes } of samples) {
    assert.equal(codecErrorOf(codec, Buffer.concat([bytes, Buffer.of(0)]))?.offset, bytes.length, title)
  }
})

test('altered bytes decode to no more than they can hold, or are a CodecError', { timeout: 60_000 }, () => {
  const anySample = fc.constantFrom(...samples)
  const alteration = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(anySample, alteration, ({ codec, bytes }, changes) => {
      const altered = Buffer.from(bytes)
      for (const [at, byte] of changes) if (altered.length > 0) altered[at % altered.length] = byte
      expectBounded(codec, altered)
    }),
    { numRuns: 10_000 },
  )
})

test('arbitrary bytes decode to no more than they can hold, or are a CodecError', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.constantFrom(...samples), fc.uint8Array({ maxLength: 300 }), ({ codec }, bytes) => {
      expectBounded(codec, bytes)
    }),
    { numRuns: 5000 },
  )
})

test('the largest lengths and counts are refused wherever they are written', { timeout: 60_000 }, () => {
  const largest = [Buffer.of(0x7f, 0xff, 0xff, 0xff), Buffer.of(0x7f, 0xff), Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)]
  const before = process.memoryUsage().arrayBuffers
  for (const { codec, bytes } of samples) {
    for (const claim of largest) {
      for (let at = 0; at < bytes.length; at++) {
        const altered = Buffer.from(bytes)
        claim.copy(altered, at)
        expectBounded(codec, altered)
      }
    }
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20)
})

/** What is decoded has at most one element per byte, and each is a struct of limited size. */
function expectBounded(codec: Codec<object, object>, bytes: Uint8Array): void {
  let value: object
  try {
    value = codec.decode(bytes)
  } catch (error) {
    if (error instanceof CodecError) return
    throw error
  }
  assert.ok(
    elementCount(value) <= bytes.length,
    `${codec.name} v${codec.version}: ${Buffer.from(bytes).toString('hex')}`,
  )
}

function elementCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (value instanceof Uint8Array) return value.length
  const inside = Object.values(value).reduce<number>((sum, each) => sum + elementCount(each), 0)
  return Array.isArray(value) ? value.length + inside : inside
}

describe('a message that lies', () => {
  test('about the number of topics is refused before anything is read of them', () => {
    const bytes = Buffer.from('ffff' + 'ffff' + '00000000' + '7fffffff', 'hex')
    expect(() => produce.request(3).decode(bytes)).toThrow(
      'Produce request v3: topicData: 2147483647 elements in 0 bytes (at byte 12)',
    )
  })

  test('about the length of its records is refused', () => {
    const value = { transactionalId: null, acks: 1, timeoutMs: 1, topicData: [topic(Buffer.from('abcd'))] }
    const bytes = Buffer.from(produce.request(9).encode(value))
    bytes[bytes.length - 8] = 0x7f
    expect(() => produce.request(9).decode(bytes)).toThrow(
      'Produce request v9: topicData[0].partitionData[0].records: 126 bytes needed, 7 left (at byte 16)',
    )
  })

  test('with null where null is not allowed is refused', () => {
    expect(() => heartbeat.request(0).decode(Buffer.from('ffff', 'hex'))).toThrow(
      'Heartbeat request v0: groupId: null in a field that is not nullable (at byte 2)',
    )
    expect(() => metadata.request(0).decode(Buffer.from('ffffffff', 'hex'))).toThrow(
      'Metadata request v0: topics: null in a field that is not nullable (at byte 4)',
    )
  })

  test('about the size of a tagged field is refused', () => {
    // replicaState, tag 1, is an int32, an int64 and an empty tag section: 13 bytes, here announced as 14.
    const value = { ...fetchRequest, replicaState: { replicaId: 5, replicaEpoch: 6n } }
    const bytes = Buffer.from(fetch.request(15).encode(value))
    const size = bytes.lastIndexOf(13)
    bytes[size] = 14
    expect(() => fetch.request(15).decode(bytes)).toThrow('replicaState: 13 bytes where 14 were announced')
  })

  test.each([
    ['the same tag twice', '02' + '0500' + '0500'],
    ['tags in descending order', '02' + '0600' + '0500'],
  ])('with %s is refused', (_, tags) => {
    const bytes = Buffer.from(`0247 00000001 024d 00 ${tags}`.replaceAll(' ', ''), 'hex')
    expect(() => heartbeat.request(4).decode(bytes)).toThrow(/tag 5 after tag [56]/)
  })

  test('with a string longer than Kafka allows is refused', () => {
    const text = Buffer.alloc(40_000, 97)
    const bytes = Buffer.concat([Buffer.from('c1b802', 'hex'), text])
    expect(() => heartbeat.request(4).decode(bytes)).toThrow('groupId: a string of 40000 bytes')
  })
})

const zeroUuid = '00000000-0000-0000-0000-000000000000'

function topic(records: Uint8Array) {
  return { name: 'a', topicId: zeroUuid, partitionData: [{ index: 0, records }] }
}

const fetchRequest = { maxWaitMs: 1, minBytes: 1, topics: [], forgottenTopicsData: [] }
