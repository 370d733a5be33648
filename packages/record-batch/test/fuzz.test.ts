import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BatchBuilder,
  BatchView,
  batches,
  type CompressionCodec,
  convertMessageSet,
  decompress,
  defaultProduceRules,
  measureBatch,
  RecordBatchError,
  type RecordInput,
  records,
  validateProduced,
} from '../src/index.ts'
import { fromBase64, type GoldenBatch, goldenRecords, readGolden, toBase64 } from './golden-data.ts'

const codecs: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const goldenBatches = readGolden<GoldenBatch>('batches').map((entry) => fromBase64(entry.bytes))
const goldenSets = readGolden<GoldenBatch>('message-sets').map((entry) => fromBase64(entry.bytes))
const maxDecompressedBytes = 1 << 20
const rules = { ...defaultProduceRules, nowMs: 1_700_000_060_000, maxDecompressedBytes }
const conversion = { ...rules, compressionType: 'producer' } as const

const codec = fc.constantFrom(...codecs)
const field = fc.option(fc.uint8Array({ maxLength: 200 }), { nil: null })
const record: fc.Arbitrary<RecordInput> = fc.record({
  timestamp: fc.oneof(fc.constant(-1), fc.nat(), fc.integer({ min: 0, max: 2 ** 50 })),
  key: field,
  value: field,
  headers: fc.array(fc.record({ key: fc.uint8Array({ maxLength: 20 }), value: field }), { maxLength: 4 }),
})

/** What bytes can go through between two machines: cut, a few bytes changed, a piece lost or repeated. */
const damage = fc.record({
  cutTo: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null }),
  changes: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 6 }),
})

test('whatever is built reads back the same, through every codec', () => {
  fc.assert(
    fc.property(codec, fc.array(record, { minLength: 1, maxLength: 30 }), (codec, inputs) => {
      const builder = new BatchBuilder({ codec })
      for (const input of inputs) builder.append(input)
      const batch = new BatchView(builder.build())
      expect(batch.isCrcValid()).toBe(true)
      const read = [...records(batch)]
      expect(read.map((one) => [one.timestamp, toBase64(one.key), toBase64(one.value)])).toEqual(
        inputs.map((one) => [one.timestamp, toBase64(one.key as Uint8Array), toBase64(one.value as Uint8Array)]),
      )
      expect(read.map((one) => one.headers.map((header) => [toBase64(header.key), toBase64(header.value)]))).toEqual(
        inputs.map((one) =>
          one.headers?.map((header) => [toBase64(header.key as Uint8Array), toBase64(header.value as Uint8Array)]),
        ),
      )
    }),
    { numRuns: 300 },
  )
})

test('an ordinary batch is accepted as it is, whatever its records', () => {
  fc.assert(
    fc.property(codec, fc.array(record, { minLength: 1, maxLength: 30 }), (codec, inputs) => {
      const builder = new BatchBuilder({ codec })
      for (const input of inputs) builder.append(input)
      const bytes = builder.build()
      const verdict = validateProduced(bytes, { ...rules, produceVersion: 9, timestampAfterMaxMs: 2 ** 52 })
      if (!verdict.accepted) throw new Error(verdict.errorMessage)
      expect(verdict.rewritten).toBe(false)
      expect(verdict.batch.bytes).toBe(bytes)
      expect(verdict.maxTimestampMs).toBe(Math.max(...inputs.map((input) => input.timestamp ?? -1)))
    }),
    { numRuns: 200 },
  )
})

describe('damaged bytes throw nothing but RecordBatchError', () => {
  test('in batches, their CRC left wrong or made right', () => {
    fc.assert(
      fc.property(fc.constantFrom(...goldenBatches), damage, fc.boolean(), (bytes, damage, isSealed) => {
        const damaged = applyDamage(bytes, damage)
        if (isSealed) seal(damaged)
        tryEverything(damaged)
      }),
      { numRuns: 1500 },
    )
  })

  test('in message sets of magic 0 and 1', () => {
    fc.assert(
      fc.property(fc.constantFrom(...goldenSets), damage, (bytes, damage) => tryEverything(applyDamage(bytes, damage))),
      { numRuns: 800 },
    )
  })

  test('in bytes that never were anything', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, looksLikeBatch) => {
        const damaged = Buffer.from(bytes)
        if (looksLikeBatch && damaged.length > 61) {
          damaged.writeBigInt64BE(0n, 0)
          damaged.writeInt32BE(damaged.length - 12, 8)
          damaged.writeUInt8(2, 16)
          damaged.writeInt32BE(damaged.readUInt8(57) % 8, 57)
          damaged.writeInt32BE(damaged.readInt32BE(57) - 1, 23)
          seal(damaged)
        }
        tryEverything(damaged)
      }),
      { numRuns: 1500 },
    )
  })

  test('in compressed bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...codecs),
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(2000),
        (codec, bytes, maxBytes) => {
          const output = orRecordBatchError(() => decompress(codec, bytes, maxBytes))
          if (output !== null) expect(output.length).toBeLessThanOrEqual(maxBytes)
        },
      ),
      { numRuns: 1500 },
    )
  })
})

test('what is accepted can always be read, and says of itself what was answered', () => {
  let acceptedCount = 0
  fc.assert(
    fc.property(fc.constantFrom(...goldenBatches), damage, (bytes, damage) => {
      const damaged = applyDamage(bytes, damage)
      if (damaged.length >= 61) {
        damaged.writeBigInt64BE(0n, 0)
        damaged.writeInt32BE(damaged.length - 12, 8)
      }
      seal(damaged)
      const verdict = validateProduced(damaged, { ...rules, produceVersion: 9 })
      if (!verdict.accepted) return
      acceptedCount++
      const read = goldenRecords(verdict.batch)
      expect(verdict.batch.isCrcValid()).toBe(true)
      expect(read.map((one) => one.offset)).toEqual(read.map((_, index) => index))
      expect(read.length).toBe(verdict.count)
      expect(verdict.batch.maxTimestamp).toBe(verdict.maxTimestampMs)
      expect(Math.max(-1, ...read.map((one) => one.timestamp))).toBe(verdict.maxTimestampMs)
    }),
    { numRuns: 1500 },
  )
  expect(acceptedCount).toBeGreaterThan(20)
})

function applyDamage(bytes: Buffer, { cutTo, changes }: { cutTo: number | null; changes: [number, number][] }): Buffer {
  const length = cutTo === null ? bytes.length : Math.floor(bytes.length * cutTo)
  const damaged = Buffer.from(bytes.subarray(0, length))
  for (const [where, value] of changes) {
    if (length > 0) damaged.writeUInt8(value, Math.min(length - 1, Math.floor(where * length)))
  }
  return damaged
}

/** Makes the CRC right again where there is a batch around it, so that damage reaches what lies behind the check. */
function seal(bytes: Buffer): void {
  const batch = orRecordBatchError(() => new BatchView(bytes))
  if (batch !== null) bytes.writeUInt32BE(batch.computeCrc(), 17)
}

function tryEverything(bytes: Uint8Array): void {
  orRecordBatchError(() => measureBatch(bytes))
  orRecordBatchError(() => {
    for (const batch of batches(bytes)) for (const _ of records(batch, { maxDecompressedBytes }));
  })
  for (const produceVersion of [2, 9]) {
    for (const isCompacted of [false, true]) validateProduced(bytes, { ...rules, produceVersion, isCompacted })
    validateProduced(bytes, { ...rules, produceVersion, compressionType: 'lz4', timestampType: 'LogAppendTime' })
  }
  convertMessageSet(bytes, conversion)
}

function orRecordBatchError<Result>(run: () => Result): Result | null {
  try {
    return run()
  } catch (error) {
    if (error instanceof RecordBatchError) return null
    throw error
  }
}
