import { BatchView, recordsBetween } from '@pico/record-batch'
import type { OpenPartition } from './open-partition.ts'

export interface CopiedRecords {
  readonly bytes: Uint8Array
  /** Offsets, of which a compacted stream need not have a record for each. */
  readonly count: number
  readonly maxTimestampMs: number
}

const maxDecompressedBytes = 128 * 1024 * 1024

/**
 * The records `[from, to)`, all of which are of one batch, as a batch of their own: the first one that a fork has for itself when it was
 * made in the middle of a batch, or in a gap of a compacted stream. Offsets, keys, values, headers and timestamps are what they were.
 * @throws ReadFailedError
 */
export async function copyOfRecords(source: OpenPartition, from: number, to: number): Promise<CopiedRecords> {
  const read = await source.readEntry(from)
  const batch =
    read === null || read.baseOffset >= to ? null : new BatchView(Buffer.concat(read.buffers, read.lengthBytes))
  const bytes = recordsBetween(batch, from, to, maxDecompressedBytes)
  return { bytes, count: to - from, maxTimestampMs: new BatchView(bytes).maxTimestamp }
}
