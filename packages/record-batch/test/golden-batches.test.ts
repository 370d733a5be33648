import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { BatchView, measureBatch } from '../src/index.ts'
import { fromBase64, type GoldenBatch, goldenRecords, readGolden } from './golden-data.ts'

const golden = readGolden<GoldenBatch>('batches')

test('the golden batches cover every codec', () => {
  const codecs = new Set(golden.map((entry) => entry.batches[0]?.compressionType))
  expect([...codecs].sort()).toEqual(['gzip', 'lz4', 'none', 'snappy', 'zstd'])
})

describe.each(golden)('the batch "$name" that Kafka wrote', (entry) => {
  const bytes = fromBase64(entry.bytes)
  const header = entry.batches[0]
  if (header === undefined) throw new Error('no batch in the golden data')

  // In the middle of other bytes, where a view has to keep its position in every access.
  const surrounded = Buffer.concat([Buffer.alloc(5, 0xff), bytes, Buffer.alloc(3, 0xff)])
  const batch = new BatchView(surrounded, 5)

  test('has the header that Kafka reads', () => {
    expect({
      magic: batch.magic,
      sizeInBytes: batch.byteLength,
      baseOffset: batch.baseOffset,
      lastOffset: batch.lastOffset,
      compressionType: batch.codec,
      timestampType: batch.timestampType,
      maxTimestamp: batch.maxTimestamp,
      producerId: batch.producerId,
      producerEpoch: batch.producerEpoch,
      baseSequence: batch.baseSequence,
      lastSequence: batch.lastSequence,
      isTransactional: batch.isTransactional,
      isControl: batch.isControl,
      hasDeleteHorizon: batch.hasDeleteHorizon,
      partitionLeaderEpoch: batch.partitionLeaderEpoch,
      crc: batch.crc,
      count: batch.count,
    }).toEqual(header)
    expect(batch.batchLength).toBe(header.sizeInBytes - 12)
  })

  test('has a valid CRC', () => {
    expect(batch.computeCrc()).toBe(header.crc)
    expect(batch.isCrcValid()).toBe(true)
  })

  test('measures as Kafka does', () => {
    expect(measureBatch(surrounded, 5)).toEqual({
      byteLength: header.sizeInBytes,
      baseOffset: header.baseOffset,
      lastOffset: header.lastOffset,
      count: header.count,
      maxTimestamp: header.maxTimestamp,
    })
  })

  test('has the records that Kafka reads', () => {
    const read = goldenRecords(batch)
    if (entry.records !== undefined) expect(read).toEqual(entry.records)
    else expect(sha256(JSON.stringify(read))).toBe(entry.recordsSha256)
    expect(read.length).toBe(header.count)
  })
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
