import { crc32c, type SharedMemory } from '@pico/binary'
import type { Chunk } from './data-object.ts'
import { ObjectCorruptError } from './errors.ts'
import type { ByteRange } from './object-store.ts'

/** What one GET of the block cache brings: in the cache, or on its way there. */
export interface Span {
  readonly key: string
  readonly range: ByteRange
  /** Those of one stream within the range. */
  readonly chunks: readonly Chunk[]
  /** What it takes of the cache's capacity. */
  readonly sizeBytes: number
  /** Null until the bytes arrive. The cache holds it, and everyone who was given a view. */
  memory: SharedMemory | null
  /** Settles when the bytes are there, or never will be. */
  readonly arrival: Promise<void>
  readonly abort: AbortController
  /** Reads that wait for the arrival. */
  waiting: number
  /** Blocks that no reader has had. */
  unreadCount: number
}

/** One chunk within a span. */
export interface Block {
  readonly span: Span
  readonly chunk: Chunk
  /** Whether a reader has had it. */
  wasRead: boolean
  isVerified: boolean
}

/** Other streams' bytes that are read along rather than asking the store twice. */
const gapBytesMax = 64 * 1024

/**
 * What to fetch for `chunks[index]`: that chunk whatever its length, and those after it within `spanBytes`, up to one that is
 * in the cache already or too far away.
 */
export function planSpan(
  chunks: readonly Chunk[],
  index: number,
  spanBytes: number,
  isCached: (chunk: Chunk) => boolean,
): { readonly range: ByteRange; readonly chunks: readonly Chunk[] } {
  const first = chunks[index]!
  let end = first.position + first.lengthBytes
  let next = index + 1
  for (; next < chunks.length; next++) {
    const { position, lengthBytes } = chunks[next]!
    const gap = position - end
    const tooLong = position + lengthBytes - first.position > spanBytes
    if (gap < 0 || gap > gapBytesMax || tooLong || isCached(chunks[next]!)) break
    end = position + lengthBytes
  }
  return { range: { offset: first.position, length: end - first.position }, chunks: chunks.slice(index, next) }
}

/** Index of the first chunk after `index` that begins at or after `position`; the list's length when there is none. */
export function chunkAfter(chunks: readonly Chunk[], index: number, position: number): number {
  let low = index + 1
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (chunks[middle]!.position < position) low = middle + 1
    else high = middle
  }
  return low
}

/** The chunk's bytes, verified. A chunk at a time, not the span, which would keep the event loop. */
export function blockBytes(block: Block, memory: SharedMemory): Uint8Array {
  if (!verify(block, memory)) {
    const { span, chunk } = block
    throw new ObjectCorruptError(span.key, chunk.position, `the checksum at offset ${chunk.baseOffset} does not match`)
  }
  return viewOf(block, memory)
}

/** Whether the bytes match their checksum; looked at once. */
export function verify(block: Block, memory: SharedMemory): boolean {
  block.isVerified ||= crc32c(viewOf(block, memory)) === block.chunk.crc32c
  return block.isVerified
}

function viewOf({ span, chunk }: Block, { bytes }: SharedMemory): Uint8Array {
  const at = chunk.position - span.range.offset
  return bytes.subarray(at, at + chunk.lengthBytes)
}
