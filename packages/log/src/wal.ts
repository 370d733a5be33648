import type { Flush } from './flush.ts'

/** Where a flush became durable. */
export interface FrameLocation {
  readonly key: string
  /** Of the frame, from the start of the object or segment. */
  readonly position: number
  readonly unit: WalUnit
}

/** What is packed, adopted and let go of as a whole: a WAL object, or a segment. */
export interface WalUnit {
  readonly key: string
  readonly lengthBytes: number
  /** Its row, to be ended by the pack or adoption that takes its last entry over. */
  readonly row: { readonly walObject: number } | { readonly walSegment: number }
}

/** The two ways of making a flush durable. One conformance suite holds both to this. */
export interface Wal {
  readonly flushesInFlightMax: number
  /**
   * Resolves when the flush is durable and committed. Writes settle in the order they were made; once one rejects, every later
   * one made before `resume` rejects too, and none of their entries is ever read.
   * @throws FencedError when this node epoch may not write any more.
   */
  write(flush: Flush): Promise<FrameLocation>
  /** A rejection was seen, and what had been assigned is void: the offsets of what is written from now on follow the last success. */
  resume(): void
  /** False while later flushes may still land in the unit. */
  isComplete(unit: WalUnit): boolean
  /** The unit was taken over and nobody reads from it: its space may be used again. */
  release(unit: WalUnit): void
  close(): Promise<void>
}
