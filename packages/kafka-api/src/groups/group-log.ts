import type { GroupRecord } from '@pico/group-coordinator'
import { BatchBuilder, batches, records } from '@pico/record-batch'
import type { AppendAccepted, Partition } from '@pico/streams'
import { decodeGroupRecord, encodeGroupRecord, type LoggedGroupRecord } from './group-records.ts'

const readBytes = 1024 * 1024
/** A snapshot of more goes into several batches: it need not be one piece. */
const snapshotBatchBytes = 1024 * 1024

/** The stream holds something that is no record of this group: damaged, or not ours. */
export class GroupLogUnreadableError extends Error {
  readonly code = 'PICO_KAFKA_GROUP_LOG_UNREADABLE'
  override readonly name = 'GroupLogUnreadableError'
  constructor(stream: string, offset: number, options: { cause: unknown }) {
    super(`group log ${stream} is unreadable at offset ${offset}`, options)
  }
}

/** The stream's gate did not take a write: nothing of it is in the log, nor will be. */
export class GroupWriteRefusedError extends Error {
  readonly code = 'PICO_KAFKA_GROUP_WRITE_REFUSED'
  override readonly name = 'GroupWriteRefusedError'
  /** Kafka's, of the gate. */
  readonly errorCode: number
  constructor(stream: string, errorCode: number, reason: string) {
    super(`group log ${stream} takes no write: ${reason}`)
    this.errorCode = errorCode
  }
}

/**
 * The log of one group in its stream: the records since the last snapshot, which is itself records. What a snapshot repeats is trimmed
 * only when the snapshot is durable, and a log with half of one says the same as a log without: a later record of a key wins.
 */
export class GroupLog {
  readonly #stream: Partition
  /** Records since the last snapshot: what a replay reads in vain, at most. */
  #tailRecords = 0

  constructor(stream: Partition) {
    this.#stream = stream
  }

  get tailRecords(): number {
    return this.#tailRecords
  }

  /**
   * Every record from the start of the log to its end, in order.
   * @throws GroupLogUnreadableError, ReadFailedError, PartitionGoneError
   */
  async replay(visit: (record: LoggedGroupRecord) => void): Promise<void> {
    const stream = this.#stream
    const endOffset = stream.highWatermark
    for (let offset = stream.startOffset; offset < endOffset; ) {
      const read = await stream.read(offset, readBytes)
      if (read === null || read === 'out-of-range') throw this.#unreadable(offset, read)
      const bytes = Buffer.concat(read.buffers, read.lengthBytes)
      read.release()
      this.#visitRecords(bytes, offset, visit)
      offset = read.endOffset
    }
  }

  /**
   * Appends `written` in one piece, before it returns. Resolves when it is durable.
   * @throws GroupWriteRefusedError, AppendFailedError: it is not in the log; others: nobody knows
   */
  async append(written: readonly GroupRecord[], topicIds: ReadonlyMap<string, string>, nowMs: number): Promise<void> {
    const builder = new BatchBuilder()
    for (const record of written) builder.append(encodeGroupRecord(record, topicIds, nowMs))
    const { committed } = this.#appendBatch(builder)
    this.#tailRecords += written.length
    await committed
  }

  /** Appends a snapshot, all of it before this returns; when it is durable, lets go of the log before it. */
  async replaceWith(
    snapshot: readonly GroupRecord[],
    topicIds: ReadonlyMap<string, string>,
    nowMs: number,
  ): Promise<void> {
    const replacedRecords = this.#tailRecords
    const appended: AppendAccepted[] = []
    let builder = new BatchBuilder()
    for (const record of snapshot) {
      builder.append(encodeGroupRecord(record, topicIds, nowMs))
      if (builder.uncompressedBytes < snapshotBatchBytes) continue
      appended.push(this.#appendBatch(builder))
      builder = new BatchBuilder()
    }
    if (builder.count > 0) appended.push(this.#appendBatch(builder))
    const [first] = appended
    if (first === undefined) return
    await Promise.all(appended.map(({ committed }) => committed))
    await this.#stream.trim(first.baseOffset)
    this.#tailRecords -= replacedRecords
  }

  /** The log that was replayed holds the state of so many records; the rest of it is tail. */
  replayed(stateRecords: number): void {
    const { startOffset, highWatermark } = this.#stream
    this.#tailRecords = Math.max(0, highWatermark - startOffset - stateRecords)
  }

  #appendBatch(builder: BatchBuilder): AppendAccepted {
    const { accepted, refused } = this.#stream.append(builder.build(), { zstdAllowed: true })
    if (accepted !== undefined) return accepted
    throw new GroupWriteRefusedError(this.#stream.topic, refused.errorCode, refused.message)
  }

  #visitRecords(bytes: Uint8Array, offset: number, visit: (record: LoggedGroupRecord) => void): void {
    let at = offset
    try {
      for (const batch of batches(bytes)) {
        for (const record of records(batch)) {
          at = record.offset
          if (at < this.#stream.startOffset) continue
          const decoded = decodeGroupRecord(record)
          if (decoded !== null) visit(decoded)
        }
      }
    } catch (error) {
      throw this.#unreadable(at, error)
    }
  }

  #unreadable(offset: number, cause: unknown): GroupLogUnreadableError {
    return new GroupLogUnreadableError(this.#stream.topic, offset, { cause })
  }
}
