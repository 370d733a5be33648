import type { Extent, StreamRecord } from '@pico/metadata'
import type { EntryHeader } from './entry-format.ts'

export interface NewEntry {
  /** Borrowed until `append` returns: the engine copies them. */
  readonly bytes: Uint8Array
  /** How many offsets the entry takes. */
  readonly count: number
  readonly maxTimestampMs: number
  /** See EntryFormat.fold; empty when there is nothing to tell. */
  readonly summary: Uint8Array
}

export interface Appended {
  readonly baseOffset: number
  /** The engine's copy of the entry. It may be patched (base offset, leader epoch), synchronously and only then. */
  readonly bytes: Uint8Array
  /**
   * Resolves when the entry is durable and readable: shared by all entries of a flush. Rejects with AppendFailedError (retriable:
   * it is not readable, and unless this process dies before the next flush it never will be), LogClosedError or FencedError.
   */
  readonly committed: Promise<void>
}

/** Told, synchronously, what becomes of a stream; before any promise of `append` settles. */
export interface LogStreamObserver {
  /** `committedOffset` moved up: what lies below it is durable and readable. */
  committed(committedOffset: number): void
  /** What was assigned at or after `nextOffset` is void, and its offsets will be given out again. */
  rolledBack(nextOffset: number): void
}

export interface LogRead {
  /** Whole entries, back to back over the buffers, the first one holding the offset asked for. Views: never to be written to. */
  readonly buffers: readonly Uint8Array[]
  readonly lengthBytes: number
  readonly baseOffset: number
  /** Where to read on. */
  readonly endOffset: number
  /**
   * To be called when nobody looks at the buffers any more: their memory is used again. Who does not call it leaves them to the
   * garbage collector, which is right for small reads and dear for many large ones. Calling it again does nothing.
   */
  release(): void
}

/** A stretch of entries that lie in one object. */
export type PackedRange = Pick<Extent, 'baseOffset' | 'endOffset' | 'lengthBytes' | 'maxTimestampMs'>

/** A stream this node may write to. All offsets are safe integers. */
export interface LogStream {
  readonly streamId: number
  readonly leaderEpoch: number
  /** Its row as it was when the stream was opened. */
  readonly record: StreamRecord
  /** The trim watermark: nothing below it is readable. */
  readonly startOffset: number
  /** Next offset to be given out. */
  readonly nextOffset: number
  /** One past the last durable, readable offset. */
  readonly committedOffset: number
  /** Bytes between startOffset and committedOffset, about. */
  readonly sizeBytes: number
  /** EntryFormat's state as of nextOffset when the stream was opened, for the user to rebuild its own. Nothing is un-packed then. */
  readonly recoveredState: Uint8Array | null

  /** Assigns the next offsets, in call order. @throws LogClosedError, FencedError; nothing is assigned then. */
  append(entry: NewEntry): Appended
  /**
   * Entries from the one that holds `offset`, whole, up to `maxBytes` but at least one. Synchronous when all is in memory; null at
   * or past the committed end. Offsets below startOffset are the caller's to refuse. @throws ReadFailedError (store unreachable, damaged object)
   */
  read(offset: number, maxBytes: number, signal?: AbortSignal): LogRead | null | Promise<LogRead | null>
  /** The first entry at or after startOffset whose maxTimestampMs is at least `timestampMs`, or null. @throws ReadFailedError */
  findTimestamp(timestampMs: number): Promise<EntryHeader | null>
  /** The highest maxTimestampMs of what is readable, -1 when empty. */
  maxTimestampMs(): number
  /** What is packed, as it lies in objects: ascending and gapless. A snapshot. */
  readonly packed: readonly PackedRange[]
  /** The entries of a packed range, whole, some at a time, past the caches: borrowed until the next are asked for. @throws what the store throws */
  readPacked(range: PackedRange, signal: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Puts other entries in the place of those in `ranges`, consecutive ones of `packed`: for the same offsets, ascending; not every offset
   * need have one, but the last entry ends where the last range does. All or nothing, also when the process dies on the way. False when
   * the ranges are not what they were, because of a trim or a merge: then nothing has changed. @throws FencedError, MetadataUnavailableError
   */
  replacePacked(
    ranges: readonly PackedRange[],
    entries: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<boolean>
  /** Moves startOffset up to `offset` (never down, never past committedOffset), durably. Returns the one now in force. */
  trim(offset: number): Promise<number>
}
