import { crc32c } from '@pico/binary'
import type { Chunk } from './data-object.ts'
import { ObjectCorruptError } from './errors.ts'
import type { ByteRange } from './object-store.ts'

/** What one GET of the block cache brings: whole chunks that lie side by side in one object. */
export interface SpanPlan {
  readonly range: ByteRange
  readonly chunks: readonly Chunk[]
  /** Where in the reader's list the chunk after the span is, if there is one. */
  readonly next: { readonly index: number; readonly position: number } | null
  /** How much was allowed for the span: the next one in sequence may take twice as much. */
  readonly budgetBytes: number
}

/** Other streams' bytes that are read along rather than asking the store twice. */
const gapBytesMax = 64 * 1024

/**
 * The span to fetch for `chunks[index]`: that chunk at least, and those after it within the budget, up to one that is in the
 * cache already.
 */
export function planSpan(
  chunks: readonly Chunk[],
  index: number,
  budgetBytes: number,
  isCached: (chunk: Chunk) => boolean,
): SpanPlan {
  const first = chunks[index]!
  let end = first.position + first.lengthBytes
  let nextIndex = index + 1
  for (; nextIndex < chunks.length; nextIndex++) {
    const chunk = chunks[nextIndex]!
    const gap = chunk.position - end
    const chunkEnd = chunk.position + chunk.lengthBytes
    if (gap < 0 || gap > gapBytesMax || chunkEnd - first.position > budgetBytes || isCached(chunk)) break
    end = chunkEnd
  }
  const next = chunks[nextIndex]
  return {
    range: { offset: first.position, length: end - first.position },
    chunks: chunks.slice(index, nextIndex),
    next: next === undefined ? null : { index: nextIndex, position: next.position },
    budgetBytes,
  }
}

/** A span in the cache, or on its way there. */
export interface Span {
  readonly key: string
  readonly plan: SpanPlan
  /** Null until they arrive. */
  bytes: Uint8Array | null
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
  /** Whether a reader has had it. Its bytes were verified then. */
  wasRead: boolean
}

/**
 * The chunk's bytes. Verified once, when first asked for: so a long span costs the event loop one chunk at a time,
 * and bytes that nobody reads cost nothing.
 */
export function blockBytes({ span, chunk, wasRead }: Block, bytes: Uint8Array): Uint8Array {
  const at = chunk.position - span.plan.range.offset
  const view = bytes.subarray(at, at + chunk.lengthBytes)
  if (!wasRead && crc32c(view) !== chunk.crc32c) {
    throw new ObjectCorruptError(span.key, chunk.position, `the checksum at offset ${chunk.baseOffset} does not match`)
  }
  return view
}
