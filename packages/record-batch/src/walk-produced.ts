import type { ProduceRules } from './produce-rules.ts'
import { produceErrors, type RecordError, type RefusedBatch, refused } from './produce-verdict.ts'
import type { RecordCursor } from './record-cursor.ts'

/** What walking the records of a batch that may be stored has shown. */
export type ProducedRecords = {
  /** -1 if no record has a timestamp. */
  readonly maxTimestamp: number
  /** Whether the offset deltas are 0, 1, 2 … */
  readonly isDense: boolean
}

/** Enough to see what is wrong; Kafka lists every record, which lets a small request ask for a large answer. */
const maxRecordErrors = 1000

/**
 * Judges every record, as Kafka's LogValidator.validateRecord: a key where the topic is compacted, a timestamp in
 * range. Any bad record refuses the batch. Throws `RecordBatchError` if the records cannot be read to the end.
 */
export function walkProduced(
  cursor: RecordCursor,
  baseTimestamp: number,
  hasLogAppendTime: boolean,
  rules: ProduceRules,
): ProducedRecords | RefusedBatch {
  const { isCompacted, timestampType, nowMs } = rules
  const earliest = timestampType === 'CreateTime' ? nowMs - rules.timestampBeforeMaxMs : Number.NEGATIVE_INFINITY
  const latest = timestampType === 'CreateTime' ? nowMs + rules.timestampAfterMaxMs : Number.POSITIVE_INFINITY
  const failures = new RecordFailures()
  let maxTimestamp = -1
  let isDense = true
  for (let index = 0; cursor.next(); index++) {
    const timestamp = baseTimestamp + cursor.timestampDelta
    if (timestamp > maxTimestamp) maxTimestamp = timestamp
    if (cursor.offsetDelta !== index) isDense = false
    if (isCompacted && cursor.keyLength < 0) {
      failures.add(produceErrors.invalidRecord, index, 'a compacted topic takes no record without a key')
    } else if (hasLogAppendTime) {
      failures.add(produceErrors.invalidTimestamp, index, 'a producer may not set the timestamp type LogAppendTime')
    } else if ((timestamp < earliest || timestamp > latest) && timestamp !== -1) {
      failures.add(
        produceErrors.invalidTimestamp,
        index,
        `timestamp ${timestamp} is not within ${earliest} to ${latest}`,
      )
    } else if (!(Number.isSafeInteger(timestamp) && Number.isSafeInteger(cursor.timestampDelta))) {
      failures.add(produceErrors.invalidTimestamp, index, 'the timestamp is beyond 2^53')
    }
  }
  return failures.verdict() ?? { maxTimestamp, isDense }
}

class RecordFailures {
  readonly #errors: RecordError[] = []
  #count = 0
  #hasInvalidTimestamp = false

  add(errorCode: number, batchIndex: number, message: string): void {
    this.#count++
    if (errorCode === produceErrors.invalidTimestamp) this.#hasInvalidTimestamp = true
    if (this.#errors.length < maxRecordErrors) this.#errors.push({ batchIndex, message })
  }

  /** A bad timestamp outweighs the rest, as in LogValidator.processRecordErrors. */
  verdict(): RefusedBatch | null {
    if (this.#count === 0) return null
    const errorCode = this.#hasInvalidTimestamp ? produceErrors.invalidTimestamp : produceErrors.invalidRecord
    return refused(errorCode, `${this.#count} records of the batch are invalid`, this.#errors)
  }
}
