import { type LogRead, type LogStream, ReadFailedError } from '@pico/log'
import { type BatchView, batches, RecordBatchError, type RecordView, records } from '@pico/record-batch'
import type { TimestampHit } from './partition.ts'

/** Bytes read at a time where batches have to be looked at one after the other. */
const scanBytes = 1024 * 1024

/**
 * The first record, in offset order, from the start of the log on, whose timestamp is at least `timestampMs` (Kafka's
 * LogSegment.findOffsetByTimestamp): timestamps need not ascend.
 */
export async function firstRecordAt(stream: LogStream, timestampMs: number): Promise<TimestampHit | null> {
  const entry = await stream.findTimestamp(timestampMs)
  if (entry === null) return null
  const from = Math.max(entry.baseOffset, stream.startOffset)
  // One entry nearly always: only in one that a trim has cut may the record lie below the start of the log.
  return visitBatches(stream, from, 1, (batch) => {
    if (batch.maxTimestamp < timestampMs) return null
    return firstIn(batch, stream.startOffset, (record) => record.timestamp >= timestampMs)
  })
}

/** The first record that carries the highest timestamp of the log (KIP-734), or null when no record carries any. */
export async function firstRecordOfMaxTimestamp(stream: LogStream): Promise<TimestampHit | null> {
  const maxTimestampMs = stream.maxTimestampMs()
  if (maxTimestampMs < 0) return null
  const hit = await firstRecordAt(stream, maxTimestampMs)
  if (hit !== null) return hit
  // The maximum was of a record that a trim has cut off, inside a batch that is still there: look at everything.
  let best: TimestampHit | null = null
  await visitBatches(stream, stream.startOffset, scanBytes, (batch) => {
    const known = best?.timestampMs ?? -1
    if (batch.maxTimestamp <= known) return null
    for (const record of records(batch)) {
      if (record.offset >= stream.startOffset && record.timestamp > (best?.timestampMs ?? -1))
        best = hitOf(batch, record)
    }
    return null
  })
  return best
}

/** Calls back with each readable batch from the one that holds `offset` until the answer is not null, or all have been seen. */
async function visitBatches<T>(
  stream: LogStream,
  offset: number,
  firstReadBytes: number,
  visit: (batch: BatchView) => T | null,
): Promise<T | null> {
  let at = offset
  let maxBytes = firstReadBytes
  for (;;) {
    const read = await stream.read(at, maxBytes)
    if (read === null) return null
    try {
      for (const batch of batches(contiguous(read))) {
        const answer = visit(batch)
        if (answer !== null) return answer
      }
    } catch (error) {
      if (error instanceof RecordBatchError) throw new ReadFailedError(stream.streamId, at, { cause: error })
      throw error
    } finally {
      read.release() // a hit is made of numbers
    }
    at = read.endOffset
    maxBytes = scanBytes
  }
}

function firstIn(batch: BatchView, startOffset: number, wanted: (record: RecordView) => boolean): TimestampHit | null {
  for (const record of records(batch)) {
    if (record.offset >= startOffset && wanted(record)) return hitOf(batch, record)
  }
  return null
}

function hitOf(batch: BatchView, record: RecordView): TimestampHit {
  return { offset: record.offset, timestampMs: record.timestamp, leaderEpoch: batch.partitionLeaderEpoch }
}

function contiguous({ buffers, lengthBytes }: LogRead): Uint8Array {
  const [first] = buffers
  return first !== undefined && buffers.length === 1 ? first : Buffer.concat(buffers, lengthBytes)
}
