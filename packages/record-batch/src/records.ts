import { fieldAt } from './batch-header.ts'
import type { BatchView } from './batch-view.ts'
import { decompress } from './compression.ts'
import { RecordBatchError } from './errors.ts'
import { RecordCursor } from './record-cursor.ts'

export type RecordHeader = {
  /** UTF-8. */
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** One record. Its bytes are views: of the batch, or of the buffer the batch was decompressed into. */
export type RecordView = {
  readonly offset: number
  /** Milliseconds: the producer's, or the broker's if the batch is of type LogAppendTime; -1 for none. */
  readonly timestamp: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeader[]
}

export type RecordsSettings = {
  /** The most a compressed batch may decompress to. */
  readonly maxDecompressedBytes: number
}

/** Far above what clients send in one batch, far below what hurts a process. */
export const defaultRecordsSettings: RecordsSettings = { maxDecompressedBytes: 64 * 1024 * 1024 }

/**
 * The records of a batch in order, one at a time; decompression happens when the first is asked for.
 * The CRC is not checked here. Throws `RecordBatchError` at the first record that is not as the header says.
 */
export function* records(
  batch: BatchView,
  settings: RecordsSettings = defaultRecordsSettings,
): Generator<RecordView, void, undefined> {
  const { baseOffset, baseTimestamp } = batch
  const logAppendTime = batch.timestampType === 'LogAppendTime' ? batch.maxTimestamp : null
  const cursor = openRecords(batch, settings.maxDecompressedBytes)
  while (cursor.next()) {
    yield {
      offset: baseOffset + cursor.offsetDelta,
      timestamp: logAppendTime ?? createTimeOf(cursor, baseTimestamp),
      key: viewOf(cursor.bytes, cursor.keyAt, cursor.keyLength),
      value: viewOf(cursor.bytes, cursor.valueAt, cursor.valueLength),
      headers: cursor.headerCount === 0 ? noHeaders : readHeaders(cursor),
    }
  }
}

/** A cursor over the records of `batch`, decompressed if need be. */
export function openRecords(batch: BatchView, maxDecompressedBytes: number): RecordCursor {
  const { bytes, position, count } = batch
  if (count < 0) throw new RecordBatchError('PICO_RECORD_BATCH_BAD_RECORD', `a batch of ${count} records`)
  const { codec } = batch
  if (codec === 'none') return new RecordCursor(bytes, position + fieldAt.records, position + batch.byteLength, count)
  // Java clients write no linked blocks and read none; whoever has some in a batch can still be read.
  const decompressed = decompress(codec, batch.recordsBytes(), maxDecompressedBytes)
  return new RecordCursor(decompressed, 0, decompressed.length, count)
}

const noHeaders: readonly RecordHeader[] = []

function createTimeOf(cursor: RecordCursor, baseTimestamp: number): number {
  const timestamp = baseTimestamp + cursor.timestampDelta
  if (!(Number.isSafeInteger(timestamp) && Number.isSafeInteger(cursor.timestampDelta))) {
    throw new RecordBatchError(
      'PICO_RECORD_BATCH_UNSAFE_INTEGER',
      `the timestamp of record ${cursor.index - 1} is beyond 2^53`,
    )
  }
  return timestamp
}

function readHeaders(cursor: RecordCursor): RecordHeader[] {
  const { bytes } = cursor
  const headers: RecordHeader[] = []
  cursor.eachHeader((keyAt, keyLength, valueAt, valueLength) => {
    headers.push({ key: bytes.subarray(keyAt, keyAt + keyLength), value: viewOf(bytes, valueAt, valueLength) })
  })
  return headers
}

function viewOf(bytes: Uint8Array, at: number, length: number): Uint8Array | null {
  return length < 0 ? null : bytes.subarray(at, at + length)
}
