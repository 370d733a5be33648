import type { LentBytes } from '@pico/storage'
import type { Slab } from './log-cache.ts'

const noSummary = new Uint8Array(0)
const noSummaries: readonly Uint8Array[] = []

/** Consecutive entries of one stream, side by side in one slab and one frame: what the engine keeps of un-packed data. */
export class Run {
  readonly streamId: number
  readonly baseOffset: number
  readonly slabPosition: number
  /** From the start of the frame's body. */
  readonly bodyPosition: number
  /** Null once evicted: then the bytes are read from the WAL, or the data object it was packed into. */
  slab: Slab | null
  endOffset: number
  lengthBytes = 0
  maxTimestampMs = -1
  crc32c = 0
  /** Key of the WAL object or segment that it lies in; null before its frame is committed. */
  walKey: string | null = null
  /** From the start of that. */
  walPosition = 0
  packed = false
  /** Null where there are none: most runs have nothing to tell. */
  #summaries: Uint8Array[] | null = null

  constructor(streamId: number, baseOffset: number, slab: Slab, slabPosition: number, bodyPosition: number) {
    this.streamId = streamId
    this.baseOffset = baseOffset
    this.endOffset = baseOffset
    this.slab = slab
    this.slabPosition = slabPosition
    this.bodyPosition = bodyPosition
  }

  /** What the entries that have something to tell say, in order. */
  get summaries(): readonly Uint8Array[] {
    return this.#summaries ?? noSummaries
  }

  addSummary(summary: Uint8Array): void {
    this.#summaries ??= []
    this.#summaries.push(summary)
  }

  forgetSummaries(): void {
    this.#summaries = null
  }

  /** In one piece, which is all that is kept from now on: thousands of small ones would cost more than what they say. */
  joinedSummaries(): Uint8Array {
    if (this.summaries.length > 1) this.#summaries = [Buffer.concat(this.summaries)]
    return this.summaries[0] ?? noSummary
  }

  /** The bytes, while they are in memory, to be given to a reader. */
  lend(): LentBytes | null {
    const bytes = this.view()
    if (bytes === null || this.slab === null) return null
    this.slab.memory.hold()
    return { bytes, memory: this.slab.memory }
  }

  /** The bytes, while they are in memory, for the engine's own use: good until the slab is evicted. */
  view(): Uint8Array | null {
    return this.slab?.bytes.subarray(this.slabPosition, this.slabPosition + this.lengthBytes) ?? null
  }
}
