import type { RecordInput } from '@pico/record-batch'

/** The values of records as the bytes that will be stored. */
export function recordValues(records: readonly RecordInput[]): (Uint8Array | null)[] {
  return records.map(({ value }) => (typeof value === 'string' ? Buffer.from(value) : (value ?? null)))
}
