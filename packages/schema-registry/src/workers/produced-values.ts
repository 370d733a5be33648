import { BatchView, convertMessageSet, RecordBatchError, records } from '@pico/record-batch'
import type { RecordsToJudge } from './work-messages.ts'

/** The most that a batch may unpack to; the gate that batches come to after they are judged allows no more. */
export const maxDecompressedBytes = 128 * 1024 * 1024

/**
 * Visits the values of produced records in order until `visit` returns false; null is a record without a value. Returns
 * - `read`: all of them were there, or `visit` had enough;
 * - `unreadable`: they are not records, which is for the gate to refuse;
 * - `tooLarge`: they unpack to more than we take, and nobody knows what they are.
 */
export function visitValues(
  produced: RecordsToJudge,
  visit: (value: Uint8Array | null) => boolean,
): 'read' | 'unreadable' | 'tooLarge' {
  if ('lengths' in produced) {
    let at = 0
    for (const length of produced.lengths) {
      const value = length < 0 ? null : produced.values.subarray(at, at + length)
      if (!visit(value)) break
      at += Math.max(length, 0)
    }
    return 'read'
  }
  try {
    const batch = asBatch(produced.batch)
    if (batch === null) return 'unreadable'
    for (const { value } of records(batch, { maxDecompressedBytes })) if (!visit(value)) break
    return 'read'
  } catch (error) {
    if (!(error instanceof RecordBatchError)) throw error
    return error.code === 'PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE' ? 'tooLarge' : 'unreadable'
  }
}

/** In every format the magic is at the same place. */
const magicAt = 16

function asBatch(bytes: Uint8Array): BatchView | null {
  const magic = bytes[magicAt]
  if (magic !== 0 && magic !== 1) return new BatchView(bytes)
  const converted = convertMessageSet(bytes, {
    maxMessageBytes: Number.POSITIVE_INFINITY,
    maxDecompressedBytes,
    compressionType: 'uncompressed',
  })
  return converted.accepted ? new BatchView(converted.bytes) : null
}
