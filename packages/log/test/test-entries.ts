import type { EntryFormat, LogRead, NewEntry } from '../src/index.ts'

const headerBytes = 28

/** A small self-delimiting entry: u32 length, u64 base offset, u32 count, i64 timestamp, u32 tag, then payload. */
export function entry(
  tag: number,
  options: { count?: number; timestampMs?: number; payloadBytes?: number } = {},
): NewEntry {
  const { count = 1, timestampMs = -1, payloadBytes = 4 } = options
  const bytes = Buffer.alloc(headerBytes + payloadBytes, tag & 0xff)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeBigUInt64BE(0n, 4)
  bytes.writeUInt32BE(count, 12)
  bytes.writeBigInt64BE(BigInt(timestampMs), 16)
  bytes.writeUInt32BE(tag, 24)
  const summary = Buffer.alloc(4)
  summary.writeUInt32BE(tag)
  return { bytes, count, maxTimestampMs: timestampMs, summary }
}

/** Stamps the offset where the engine's user does: in the engine's copy. */
export function stamp(bytes: Uint8Array, baseOffset: number): void {
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).writeBigUInt64BE(BigInt(baseOffset), 4)
}

/** State: how many entries were folded in, and the sum of their tags. */
export const testFormat: EntryFormat = {
  headerBytes,
  measure(bytes, at) {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset + at, headerBytes)
    const baseOffset = Number(view.readBigUInt64BE(4))
    return {
      lengthBytes: view.readUInt32BE(0),
      baseOffset,
      endOffset: baseOffset + view.readUInt32BE(12),
      maxTimestampMs: Number(view.readBigInt64BE(16)),
    }
  },
  fold(state, summaries) {
    const folded = Buffer.alloc(16)
    if (state !== null) folded.set(state)
    for (const summary of summaries) {
      const bytes = Buffer.from(summary)
      for (let at = 0; at < bytes.length; at += 4) {
        folded.writeBigUInt64BE(folded.readBigUInt64BE(0) + 1n, 0)
        folded.writeBigUInt64BE(folded.readBigUInt64BE(8) + BigInt(bytes.readUInt32BE(at)), 8)
      }
    }
    return folded
  },
}

export function foldedTags(state: Uint8Array | null): { count: number; sum: number } {
  if (state === null) return { count: 0, sum: 0 }
  const bytes = Buffer.from(state)
  return { count: Number(bytes.readBigUInt64BE(0)), sum: Number(bytes.readBigUInt64BE(8)) }
}

/** What a read holds: each entry's base offset and tag. */
export function tagsOf(read: LogRead | null): { baseOffset: number; tag: number }[] {
  if (read === null) return []
  const bytes = Buffer.concat(read.buffers)
  const found: { baseOffset: number; tag: number }[] = []
  for (let at = 0; at < bytes.length; ) {
    const header = testFormat.measure(bytes, at)
    found.push({ baseOffset: header.baseOffset, tag: bytes.readUInt32BE(at + 24) })
    at += header.lengthBytes
  }
  return found
}
