import type { EntryFormat } from '@pico/log'
import { batchHeaderBytes, measureBatch } from '@pico/record-batch'
import { encodeFacts, restoreFacts } from './stream-facts-format.ts'

/** Entries of the log are RecordBatches v2, and what lives as long as a stream is in its table (FORMAT.md). */
export const recordBatchEntries: EntryFormat = {
  headerBytes: batchHeaderBytes,
  measure(bytes, at) {
    const { byteLength, baseOffset, lastOffset, maxTimestamp } = measureBatch(bytes, at)
    return { lengthBytes: byteLength, baseOffset, endOffset: lastOffset + 1, maxTimestampMs: maxTimestamp }
  },
  fold: (state, summaries, nowMs) => encodeFacts(restoreFacts(state, summaries), nowMs),
}
