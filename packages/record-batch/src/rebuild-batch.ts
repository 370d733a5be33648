import { sealBatch } from './batch-builder.ts'
import { batchHeaderBytes } from './batch-header.ts'
import type { BatchView } from './batch-view.ts'
import type { CompressionCodec } from './compression.ts'
import { RecordBatchError } from './errors.ts'
import { GrowingBytes } from './growing-bytes.ts'
import type { RecordCursor } from './record-cursor.ts'
import { varintLength, writeVarint } from './varint.ts'

/**
 * A new batch of the same records under another codec, with offset deltas 0, 1, 2 … and the first record's timestamp
 * as base: what Kafka's LogValidator.buildRecordsAndAssignOffsets makes of a batch it cannot keep. Keys, values and
 * headers are copied as bytes. The base offset is 0.
 *
 * `cursor` stands before the first of `source`'s records, which have been walked once and found good.
 */
export function rebuildBatch(
  source: BatchView,
  cursor: RecordCursor,
  codec: CompressionCodec,
  maxTimestamp: number,
): Uint8Array {
  const batch = new GrowingBytes(1024 + source.byteLength, batchHeaderBytes)
  let firstDelta = 0
  let count = 0
  while (cursor.next()) {
    if (count === 0) firstDelta = cursor.timestampDelta
    const timestampDelta = cursor.timestampDelta - firstDelta
    if (Math.abs(timestampDelta) >= 2 ** 52) {
      throw new RecordBatchError('PICO_RECORD_BATCH_OUT_OF_RANGE', 'timestamps too far apart for one batch')
    }
    const payload = cursor.bytes.subarray(cursor.payloadAt, cursor.recordEnd)
    const bodyBytes = 1 + varintLength(timestampDelta) + varintLength(count) + payload.length
    const bytes = batch.reserve(varintLength(bodyBytes) + bodyBytes)
    let at = writeVarint(bytes, batch.length, bodyBytes)
    bytes[at++] = 0 // attributes
    at = writeVarint(bytes, at, timestampDelta)
    at = writeVarint(bytes, at, count)
    bytes.set(payload, at)
    batch.length = at + payload.length
    count++
  }
  return sealBatch(batch.written(), codec, {
    baseOffset: 0,
    partitionLeaderEpoch: source.partitionLeaderEpoch,
    codec,
    timestampType: 'CreateTime',
    isTransactional: source.isTransactional,
    isControl: source.isControl,
    lastOffsetDelta: count - 1,
    baseTimestamp: source.baseTimestamp + firstDelta,
    maxTimestamp,
    producerId: source.producerId,
    producerEpoch: source.producerEpoch,
    baseSequence: source.baseSequence,
    count,
  })
}
