import { batchHeaderBytes, fieldAt, logOverheadBytes } from './batch-header.ts'
import { BatchView } from './batch-view.ts'
import { codecIds } from './compression.ts'
import { int16At, int32At } from './header-integers.ts'
import { produceErrors, type RefusedBatch, refused } from './produce-verdict.ts'

/** Messages of every magic have the magic here; the smallest message of magic 0 has 14 bytes after its length. */
export const smallestMessageBytes = 14

/** The first Produce version that may carry zstd (KIP-110). */
const zstdSinceProduceVersion = 7

/**
 * Finds the one batch that a partition's records field has to be. The checks are those of Kafka's
 * ByteBufferLogInputStream and ProduceRequest.validateRecords, in their order: a batch that is cut off counts as
 * absent, so an incomplete tail is ignored and an incomplete first batch is no batch.
 */
export function frameProduced(bytes: Uint8Array, produceVersion: number): BatchView | RefusedBatch {
  const first = frameAt(bytes, 0)
  if (typeof first !== 'number') return first
  if (first === 0) return refused(produceErrors.invalidRecord, 'the records hold no complete batch')
  const magic = bytes[fieldAt.magic]
  if (magic !== 2)
    return refused(produceErrors.invalidRecord, `a batch of magic ${magic} where only magic 2 is allowed`)
  if (produceVersion < zstdSinceProduceVersion && codecIdAt(bytes) === codecIds.zstd) {
    return refused(
      produceErrors.unsupportedCompressionType,
      `zstd needs Produce version ${zstdSinceProduceVersion} or later, not ${produceVersion}`,
    )
  }
  const second = frameAt(bytes, first)
  if (typeof second !== 'number') return second
  if (second !== 0) return refused(produceErrors.invalidRecord, 'more than one batch where exactly one is allowed')
  if (first < batchHeaderBytes) {
    return refused(produceErrors.corruptMessage, `a batch of ${first} bytes is shorter than its header`)
  }
  return new BatchView(bytes, 0)
}

/** The bytes of the batch or message at `at`; 0 if none is complete there. */
export function frameAt(bytes: Uint8Array, at: number): number | RefusedBatch {
  const left = bytes.length - at
  if (left < logOverheadBytes) return 0
  const length = int32At(bytes, at + fieldAt.batchLength)
  if (length < smallestMessageBytes) {
    return refused(produceErrors.corruptMessage, `a batch length of ${length} is less than any format's minimum`)
  }
  if (left <= fieldAt.magic) return 0
  const magic = bytes[at + fieldAt.magic] as number
  if (magic > 2) return refused(produceErrors.corruptMessage, `magic ${magic} is unknown`)
  const byteLength = length + logOverheadBytes
  return byteLength > left ? 0 : byteLength
}

/** The first batch is complete, so 26 bytes or more are there. */
function codecIdAt(bytes: Uint8Array): number {
  return int16At(bytes, fieldAt.attributes) & 0x07
}
