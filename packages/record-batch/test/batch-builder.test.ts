import { describe, expect, test } from 'vitest'
import { BatchBuilder, BatchView, RecordBatchError, records } from '../src/index.ts'
import { fromBase64, type GoldenBatch, goldenRecords, readGolden } from './golden-data.ts'
import { writtenBatches } from './written-batches.ts'

const golden = readGolden<GoldenBatch>('batches')

describe('the builder writes the bytes that Kafka writes', () => {
  const uncompressed = golden.filter(
    (entry) => entry.batches[0]?.compressionType === 'none' && !entry.batches[0].hasDeleteHorizon && entry.records,
  )

  test('for enough golden batches to mean something', () => {
    expect(uncompressed.length).toBeGreaterThanOrEqual(9)
  })

  test.each(uncompressed)('for "$name"', ({ bytes, batches, records: goldenOnes }) => {
    const header = batches[0]
    if (header === undefined || goldenOnes === undefined) throw new Error('no batch in the golden data')
    const sent = new BatchView(fromBase64(bytes))
    const builder = new BatchBuilder({
      baseOffset: header.baseOffset,
      partitionLeaderEpoch: header.partitionLeaderEpoch,
      producerId: header.producerId,
      producerEpoch: header.producerEpoch,
      baseSequence: header.baseSequence,
      isTransactional: header.isTransactional,
      isControl: header.isControl,
      ...(header.timestampType === 'LogAppendTime' ? { logAppendTimeMs: header.maxTimestamp } : {}),
    })
    // Under LogAppendTime the producers' times are still in the deltas: take the records as they were created.
    const created = new BatchView(Buffer.from(sent.batchBytes()))
    created.stampCreateTime(0)
    for (const record of records(created)) builder.append(record)
    expect(Buffer.from(builder.build()).toString('hex')).toBe(fromBase64(bytes).toString('hex'))
  })
})

describe.each(writtenBatches())('$name', ({ bytes, expected }) => {
  test('reads as it was written, under a valid CRC', () => {
    const batch = new BatchView(bytes)
    expect(batch.isCrcValid()).toBe(true)
    expect(batch.byteLength).toBe(bytes.length)
    expect(goldenRecords(batch)).toEqual(expected)
  })
})

describe('a builder', () => {
  test('returns the offset of each record and counts', () => {
    const builder = new BatchBuilder({ baseOffset: 10 })
    expect(builder.append({ value: 'a' })).toBe(10)
    expect(builder.append({ value: 'b' })).toBe(11)
    expect(builder.count).toBe(2)
    expect(builder.uncompressedBytes).toBe(builder.build().length)
  })

  test('builds the same batch in memory that it is given, and elsewhere where that is too small', () => {
    const build = (memory?: Uint8Array) => {
      const builder = new BatchBuilder({ baseOffset: 7, ...(memory && { memory }) })
      for (let n = 0; n < 20; n++) builder.append({ key: `k${n}`, value: 'v'.repeat(n * 10), timestamp: 1000 + n })
      return builder.build()
    }
    const expected = Buffer.from(build()).toString('hex')
    const [enough, few, none] = [4096, 100, 0].map((length) => new Uint8Array(length).fill(0xee))
    const inPlace = build(enough)
    expect(inPlace.buffer).toBe(enough?.buffer)
    for (const batch of [inPlace, build(few), build(none)]) expect(Buffer.from(batch).toString('hex')).toBe(expected)
  })

  test('takes another timestamp than the record has', () => {
    const builder = new BatchBuilder()
    builder.append({ value: 'a', timestamp: 5 }, 9)
    expect([...records(new BatchView(builder.build()))].map(({ timestamp }) => timestamp)).toEqual([9])
  })

  test('builds nothing from nothing, and only once', () => {
    expect(() => new BatchBuilder().build()).toThrow(RecordBatchError)
    const builder = new BatchBuilder()
    builder.append({})
    builder.build()
    expect(() => builder.build()).toThrow(RecordBatchError)
    expect(() => builder.append({})).toThrow(RecordBatchError)
  })

  test.each([
    { producerId: 2 ** 53 },
    { producerId: -2 },
    { producerEpoch: 32768 },
    { baseSequence: 2 ** 31 },
    { baseOffset: -1 },
    { partitionLeaderEpoch: 1.5 },
    { logAppendTimeMs: Number.NaN },
  ])('refuses the settings %j', (settings) => {
    expect(() => new BatchBuilder(settings)).toThrow(RecordBatchError)
  })

  test.each([-2, 0.5, 2 ** 53, Number.NaN])('refuses the timestamp %d', (timestamp) => {
    expect(() => new BatchBuilder().append({ timestamp })).toThrow(RecordBatchError)
  })

  test('keeps timestamps as far apart as a batch can hold, and refuses more', () => {
    const builder = new BatchBuilder()
    builder.append({ timestamp: -1 })
    builder.append({ timestamp: 2 ** 52 - 2 })
    expect(() => builder.append({ timestamp: 2 ** 52 })).toThrow(RecordBatchError)
    expect([...records(new BatchView(builder.build()))].map((record) => record.timestamp)).toEqual([-1, 2 ** 52 - 2])
  })
})
