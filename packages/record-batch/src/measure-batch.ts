import { fieldAt } from './batch-header.ts'
import { BatchView, checkedByteLength } from './batch-view.ts'
import { RecordBatchError } from './errors.ts'
import { int32At, int64At } from './header-integers.ts'

export type BatchMeasure = {
  /** The whole batch, header included: the next one begins this much further on. */
  readonly byteLength: number
  readonly baseOffset: number
  /** `baseOffset` plus the last offset delta; after compaction that is more than the records left. */
  readonly lastOffset: number
  readonly count: number
  /** Milliseconds, -1 if none. */
  readonly maxTimestamp: number
}

/**
 * What a log needs to hop over the batch at `position`: header fields only, no CRC, one small object.
 * Throws `RecordBatchError` if no whole v2 batch begins there or a field is no safe integer.
 */
export function measureBatch(bytes: Uint8Array, position = 0): BatchMeasure {
  const byteLength = checkedByteLength(bytes, position)
  const baseOffset = int64At(bytes, position + fieldAt.baseOffset)
  const maxTimestamp = int64At(bytes, position + fieldAt.maxTimestamp)
  if (!(Number.isSafeInteger(baseOffset) && Number.isSafeInteger(maxTimestamp))) {
    throw new RecordBatchError('PICO_RECORD_BATCH_UNSAFE_INTEGER', 'the base offset or max timestamp is beyond 2^53')
  }
  const lastOffset = baseOffset + int32At(bytes, position + fieldAt.lastOffsetDelta)
  return { byteLength, baseOffset, lastOffset, count: int32At(bytes, position + fieldAt.count), maxTimestamp }
}

/**
 * The batches that lie one after the other from `position` on. A batch cut off by the end of `bytes` ends the
 * sequence, as in a Fetch response (KIP-74); anything else that is no v2 batch throws `RecordBatchError`.
 */
export function* batches(bytes: Uint8Array, position = 0): Generator<BatchView, void, undefined> {
  let at = position
  while (at < bytes.length) {
    const batch = wholeBatchAt(bytes, at)
    if (batch === null) return
    yield batch
    at += batch.byteLength
  }
}

function wholeBatchAt(bytes: Uint8Array, at: number): BatchView | null {
  try {
    return new BatchView(bytes, at)
  } catch (error) {
    if (error instanceof RecordBatchError && error.code === 'PICO_RECORD_BATCH_TRUNCATED') return null
    throw error
  }
}
