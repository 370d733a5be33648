import { strict as assert } from 'node:assert'
import type { Extent, OpenedStream, StreamRecord } from '@pico/metadata'
import { ObjectMissingError } from '@pico/storage'
import type { EntryHeader } from './entry-format.ts'
import { ReadFailedError } from './errors.ts'
import { type EntryBytes, entries, Gather } from './gather.ts'
import type { Appended, LogRead, LogStream, LogStreamObserver, NewEntry, PackedRange } from './log-stream.ts'
import type { Run } from './run.ts'
import type { StoredEntries } from './stored-entries.ts'

/** What a stream asks of the engine it belongs to. */
export interface StreamEngine {
  readonly stored: StoredEntries
  append(stream: OpenStream, entry: NewEntry): Appended
  trim(stream: OpenStream, offset: number): Promise<number>
  readPacked(extent: Extent, signal: AbortSignal): AsyncIterable<Uint8Array>
  replacePacked(
    stream: OpenStream,
    replaced: readonly Extent[],
    entries: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<boolean>
  relocate(streamId: number): Promise<void>
  nowMs(): number
}

/** An open stream: its offsets, and where its entries are. */
export class OpenStream implements LogStream {
  readonly streamId: number
  readonly leaderEpoch: number
  readonly record: StreamRecord
  readonly recoveredState: Uint8Array | null
  observer: LogStreamObserver | null = null
  startOffset: number
  nextOffset: number
  committedOffset: number
  /** What is packed or adopted, ascending. */
  extents: Extent[]
  /** Committed entries that are un-packed, or still in memory, ascending; contiguous with the extents, and overlapping them. */
  runs: Run[] = []
  unpackedRuns = 0
  /** Moved here, and not written to since. */
  hasJustMoved: boolean
  lastUsedMs: number
  readonly #engine: StreamEngine

  constructor(opened: OpenedStream, engine: StreamEngine) {
    // The extents of a large stream change, and the state is the user's by now: neither is kept for as long as the row.
    const { extents, epochStartOffset, state, ...record } = opened
    this.record = record
    this.streamId = opened.streamId
    this.leaderEpoch = opened.leaderEpoch
    this.recoveredState = state
    this.startOffset = opened.startOffset
    this.nextOffset = opened.packedOffset
    this.committedOffset = opened.packedOffset
    this.extents = [...extents]
    this.hasJustMoved = opened.leaderEpoch > 1 && epochStartOffset === opened.packedOffset
    this.#engine = engine
    this.lastUsedMs = engine.nowMs()
  }

  get sizeBytes(): number {
    let total = 0
    for (const extent of this.extents) total += extent.lengthBytes
    for (const run of this.runs) if (!run.packed) total += run.lengthBytes
    return total
  }

  append(entry: NewEntry): Appended {
    assert(entry.count > 0 && entry.bytes.length > 0, 'an entry holds at least one offset')
    this.lastUsedMs = this.#engine.nowMs()
    return this.#engine.append(this, entry)
  }

  read(offset: number, maxBytes: number, signal?: AbortSignal): LogRead | null | Promise<LogRead | null> {
    assert(offset >= 0 && maxBytes > 0)
    if (offset >= this.committedOffset) return null
    this.lastUsedMs = this.#engine.nowMs()
    const gather = new Gather(this.#engine.stored.format, offset, maxBytes)
    while (!gather.full && gather.nextOffset < this.committedOffset) {
      const piece = this.#pieceAt(gather.nextOffset, signal)
      if (piece instanceof Promise) {
        // What is at hand goes out now; the fetch that has begun serves the next read, which also meets its error.
        if (gather.lengthBytes === 0) return this.#readStored(gather, piece, signal)
        piece.then(
          ({ memory }) => memory.release(),
          () => undefined,
        )
        break
      }
      gather.add(piece)
    }
    return gather.finish()
  }

  async findTimestamp(timestampMs: number): Promise<EntryHeader | null> {
    const mayHold = (range: { maxTimestampMs: number; endOffset: number }) =>
      range.maxTimestampMs >= timestampMs && range.endOffset > this.startOffset
    const find = () => this.#findPacked(timestampMs, mayHold)
    const found = await find().catch((error: unknown) => this.#elsewhere(error, find))
    if (found !== null) return found
    // The runs are looked at last, and in place: while the extents were read, some may have been packed into new ones.
    for (const run of [...this.runs]) {
      if (!mayHold(run)) continue
      const found = this.#findIn(await this.#pieceAt(Math.max(run.baseOffset, this.startOffset)), timestampMs)
      if (found !== null) return found
    }
    return null
  }

  async #findPacked(timestampMs: number, mayHold: (extent: Extent) => boolean): Promise<EntryHeader | null> {
    const { stored } = this.#engine
    for (const extent of this.extents) {
      if (!mayHold(extent)) continue
      for (const chunk of await stored.chunksOf(extent)) {
        const offset = Math.max(chunk.baseOffset, extent.baseOffset)
        if (chunk.maxTimestampMs < timestampMs || chunk.baseOffset >= extent.endOffset) continue
        const found = this.#findIn(await stored.bytesAt(this.streamId, [extent], offset), timestampMs)
        if (found !== null) return found
      }
    }
    return null
  }

  /** Reads again where the object was gone: another node has merged it with others, and SQL says where its entries are now. */
  async #elsewhere<T>(error: unknown, read: () => T | Promise<T>): Promise<T> {
    if (!(error instanceof ReadFailedError && error.cause instanceof ObjectMissingError)) throw error
    await this.#engine.relocate(this.streamId)
    return read()
  }

  maxTimestampMs(): number {
    let max = -1
    for (const extent of this.extents) {
      if (extent.endOffset > this.startOffset) max = Math.max(max, extent.maxTimestampMs)
    }
    for (const run of this.runs) {
      if (run.endOffset > this.startOffset) max = Math.max(max, run.maxTimestampMs)
    }
    return max
  }

  trim(offset: number): Promise<number> {
    return this.#engine.trim(this, offset)
  }

  get packed(): readonly PackedRange[] {
    return [...this.extents]
  }

  readPacked(range: PackedRange, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#engine.readPacked(this.#extentOf(range), signal)
  }

  replacePacked(
    ranges: readonly PackedRange[],
    entries: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const replaced = ranges.map((range) => this.#extentOf(range))
    return this.#engine.replacePacked(this, replaced, entries, signal)
  }

  /** Packed ranges are extents, of which others see a part only. */
  #extentOf(range: PackedRange): Extent {
    assert('objectId' in range, 'a packed range is one that `packed` gave')
    return range as Extent
  }

  /** Runs that are packed and out of memory are found by their extents from now on. */
  dropStaleRuns(): void {
    let stale = 0
    for (const run of this.runs) {
      if (run.slab !== null || !run.packed) break
      stale += 1
    }
    if (stale > 0) this.runs.splice(0, stale)
  }

  /** Packed runs below `endOffset` are found by their extents from now on: what is in memory is what was there before. */
  forgetRunsBelow(endOffset: number): void {
    const stale = this.runs.findIndex((run) => !run.packed || run.endOffset > endOffset)
    this.runs.splice(0, stale === -1 ? this.runs.length : stale)
  }

  #findIn(piece: EntryBytes, timestampMs: number): EntryHeader | null {
    try {
      return this.#findEntry(piece, timestampMs)
    } finally {
      piece.memory.release()
    }
  }

  #findEntry(piece: EntryBytes, timestampMs: number): EntryHeader | null {
    for (const { header } of entries(this.#engine.stored.format, piece.bytes)) {
      if (header.maxTimestampMs >= timestampMs && header.endOffset > this.startOffset) return header
    }
    return null
  }

  async #readStored(
    gather: Gather,
    first: Promise<EntryBytes>,
    signal: AbortSignal | undefined,
  ): Promise<LogRead | null> {
    gather.add(await first)
    while (!gather.full && gather.nextOffset < this.committedOffset) {
      gather.add(await this.#pieceAt(gather.nextOffset, signal))
    }
    return gather.finish()
  }

  /** The run or chunk that holds `offset`. */
  #pieceAt(offset: number, signal?: AbortSignal): EntryBytes | Promise<EntryBytes> {
    const runIndex = indexOf(this.runs, offset)
    const run = this.runs[runIndex]
    if (run !== undefined) {
      const lent = run.lend()
      if (lent !== null) return { ...lent, baseOffset: run.baseOffset, endOffset: run.endOffset }
      if (!run.packed) return this.#engine.stored.bytesOfRun(this.runs, runIndex, signal)
    }
    const read = () => this.#engine.stored.bytesAt(this.streamId, this.extents, offset, signal)
    const piece = read()
    return piece instanceof Promise ? piece.catch((error: unknown) => this.#elsewhere(error, read)) : piece
  }
}

/** Index of the range that holds `offset` in ascending ranges, or -1. */
export function indexOf(ranges: readonly { baseOffset: number; endOffset: number }[], offset: number): number {
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const range = ranges[middle]
    if (range === undefined) return -1
    if (offset < range.baseOffset) high = middle - 1
    else if (offset >= range.endOffset) low = middle + 1
    else return middle
  }
  return -1
}
