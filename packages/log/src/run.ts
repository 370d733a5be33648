import type { LentBytes } from '@pico/storage'
import type { Slab } from './log-cache.ts'

/** Where a run lies in the WAL once its frame is committed. */
export interface RunLocation {
  readonly key: string
  /** From the start of the object or segment. */
  readonly position: number
}

const noSummary = new Uint8Array(0)

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
  summaries: Uint8Array[] = []
  location: RunLocation | null = null
  packed = false

  constructor(streamId: number, baseOffset: number, slab: Slab, slabPosition: number, bodyPosition: number) {
    this.streamId = streamId
    this.baseOffset = baseOffset
    this.endOffset = baseOffset
    this.slab = slab
    this.slabPosition = slabPosition
    this.bodyPosition = bodyPosition
  }

  /** In one piece, which is all that is kept from now on: thousands of small ones would cost more than what they say. */
  joinedSummaries(): Uint8Array {
    if (this.summaries.length > 1) this.summaries = [Buffer.concat(this.summaries)]
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
