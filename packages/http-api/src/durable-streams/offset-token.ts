/**
 * The offsets of Durable Streams: `<record>_<byte>`, 16 decimal digits each, so that their byte order is the order of the stream. The
 * record part is a record offset, the same number that Kafka clients see. The byte part is 0 wherever a record begins, and that is
 * wherever we end a response, except where an event of text had to end inside a record (text-events.ts).
 */
export interface StreamPosition {
  readonly record: number
  /** Bytes into the value of that record; below its length. */
  readonly byte: number
}

export function offsetToken({ record, byte }: StreamPosition): string {
  return `${digits(record)}_${digits(byte)}`
}

/** Null for what is no offset of any stream. */
export function parseOffsetToken(text: string): StreamPosition | null {
  if (!/^\d{16}_\d{16}$/.test(text)) return null
  const position = { record: Number(text.slice(0, 16)), byte: Number(text.slice(17)) }
  return Number.isSafeInteger(position.record) && Number.isSafeInteger(position.byte) ? position : null
}

/** Where a record begins. */
export function recordStart(record: number): StreamPosition {
  return { record, byte: 0 }
}

/** Negative when `a` comes before `b`. */
export function comparePositions(a: StreamPosition, b: StreamPosition): number {
  return a.record - b.record || a.byte - b.byte
}

/** A safe integer has 16 digits at most. */
function digits(value: number): string {
  return String(value).padStart(16, '0')
}
