import { strict as assert } from 'node:assert'
import { BatchBuilder, batches, records } from '@pico/record-batch'
import type { OpenPartition } from './open-partition.ts'

export interface CopiedRecords {
  readonly bytes: Uint8Array
  readonly count: number
  readonly maxTimestampMs: number
}

/**
 * The records `[from, to)` of the batch that begins at `from`, as a batch of their own: the first one that a fork has for itself when it
 * was made in the middle of a batch. Keys, values, headers and timestamps are what they were. @throws ReadFailedError
 */
export async function copyOfRecords(source: OpenPartition, from: number, to: number): Promise<CopiedRecords> {
  const read = await source.readEntry(from)
  assert(read !== null && read.baseOffset === from, 'a fork begins its own entries where one of the source begins')
  const [batch] = batches(Buffer.concat(read.buffers, read.lengthBytes))
  assert(batch !== undefined, 'a read brings a whole batch at least')
  const isStamped = batch.timestampType === 'LogAppendTime'
  const builder = new BatchBuilder(isStamped ? { logAppendTimeMs: batch.maxTimestamp } : {})
  let maxTimestampMs = -1
  for (const { offset, timestamp, key, value, headers } of records(batch)) {
    if (offset >= to) break
    builder.append({ timestamp, key, value, headers })
    maxTimestampMs = Math.max(maxTimestampMs, timestamp)
  }
  return { bytes: builder.build(), count: builder.count, maxTimestampMs }
}
