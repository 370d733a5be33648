import type { EntryFormat } from '@pico/log'
import { batchHeaderBytes, measureBatch } from '@pico/record-batch'
import { encodeTable, restoreTable } from './producer-format.ts'

/** Entries of the log are RecordBatches v2, and what lives as long as a stream is its table of producers (FORMAT.md). */
export const recordBatchEntries: EntryFormat = {
  headerBytes: batchHeaderBytes,
  measure(bytes, at) {
    const { byteLength, baseOffset, lastOffset, maxTimestamp } = measureBatch(bytes, at)
    return { lengthBytes: byteLength, baseOffset, endOffset: lastOffset + 1, maxTimestampMs: maxTimestamp }
  },
  fold: (state, summaries, nowMs) => encodeTable(restoreTable(state, summaries), nowMs),
}
