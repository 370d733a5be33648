import type { BatchView } from './batch-view.ts'
import { RecordBatchError, type RecordBatchErrorCode } from './errors.ts'

/** Kafka error codes, of those that the content of a produced batch can earn. */
export const produceErrors = {
  corruptMessage: 2,
  messageTooLarge: 10,
  recordListTooLarge: 18,
  invalidTimestamp: 32,
  unsupportedCompressionType: 76,
  invalidRecord: 87,
} as const

export type ProduceErrorCode = (typeof produceErrors)[keyof typeof produceErrors]

/** One entry of record_errors (Produce v8+). */
export type RecordError = {
  /** The record's place in the batch, from 0: batch_index. */
  readonly batchIndex: number
  readonly message: string
}

export type AcceptedBatch = {
  readonly accepted: true
  /** What to store: a view of the bytes given, or of new bytes if `rewritten`. The base offset in it is 0. */
  readonly batch: BatchView
  /** Whether anything had to be changed that the producer's CRC covers. */
  readonly rewritten: boolean
  readonly count: number
  /** -1 if the producer is not idempotent; then so are the sequences. */
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly lastSequence: number
  /** Milliseconds. The true maximum of the records, -1 if none has a timestamp; `logAppendTimeMs` if that is set. */
  readonly maxTimestampMs: number
  /** -1, or on a LogAppendTime topic the time to give to `BatchView.stampLogAppendTime` on the stored copy. */
  readonly logAppendTimeMs: number
}

export type RefusedBatch = {
  readonly accepted: false
  readonly errorCode: ProduceErrorCode
  readonly errorMessage: string
  readonly recordErrors: readonly RecordError[]
  /** Found when the request was read: Kafka's answer to that knows nothing of the log, such as where it starts. */
  readonly isBeforeLog?: true
}

export type ProduceVerdict = AcceptedBatch | RefusedBatch

export function refused(
  errorCode: ProduceErrorCode,
  errorMessage: string,
  recordErrors: readonly RecordError[] = [],
): RefusedBatch {
  return { accepted: false, errorCode, errorMessage, recordErrors }
}

/** The refusal that an error met while reading produced bytes amounts to; anything but a `RecordBatchError` is a bug. */
export function refusedBecause(error: unknown): RefusedBatch {
  if (!(error instanceof RecordBatchError)) throw error
  return refused(errorCodes[error.code], error.message)
}

/**
 * The CRC was right where these are met in the records, so the client has built what it sent: not CORRUPT_MESSAGE,
 * which clients retry, but INVALID_RECORD. Too much decompressed is MESSAGE_TOO_LARGE, upon which Java clients split.
 */
const errorCodes: Readonly<Record<RecordBatchErrorCode, ProduceErrorCode>> = {
  PICO_RECORD_BATCH_TRUNCATED: produceErrors.invalidRecord,
  PICO_RECORD_BATCH_WRONG_MAGIC: produceErrors.invalidRecord,
  PICO_RECORD_BATCH_CORRUPT: produceErrors.corruptMessage,
  PICO_RECORD_BATCH_BAD_RECORD: produceErrors.invalidRecord,
  PICO_RECORD_BATCH_UNKNOWN_CODEC: produceErrors.unsupportedCompressionType,
  PICO_RECORD_BATCH_BAD_COMPRESSION: produceErrors.invalidRecord,
  PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE: produceErrors.messageTooLarge,
  PICO_RECORD_BATCH_UNSAFE_INTEGER: produceErrors.invalidTimestamp,
  PICO_RECORD_BATCH_OUT_OF_RANGE: produceErrors.invalidTimestamp,
}
