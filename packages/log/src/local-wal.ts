import type { Metadata, NodeIdentity } from '@pico/metadata'
import {
  encodeSegmentHeader,
  encodeWalFrame,
  type ObjectStore,
  type SegmentStore,
  type SegmentWriter,
  WAL_FRAME_ALIGNMENT,
  type WalIdentity,
} from '@pico/storage'
import { AppendFailedError } from './errors.ts'
import type { Flush } from './flush.ts'
import type { FrameLocation, Wal, WalUnit } from './wal.ts'
import { walKey } from './wal-key.ts'

/** Released files kept for the next segments: writing in place of old bytes changes no file metadata. */
const recycledFilesMax = 4
/** A frame's header, footer and trailer, generously, for the largest flush. */
const frameOverheadBytes = 1024 * 1024

interface Segment {
  readonly segmentId: number
  readonly writer: SegmentWriter
  readonly unit: WalUnit
  /** Where the next frame goes; also how much is committed. */
  endBytes: number
}

/**
 * The local WAL: frames in preallocated segment files, one write and sync each, and the frame itself is the commit. A segment's
 * row is in SQL before its first frame; no SQL on the way of a flush.
 */
export class LocalWal implements Wal {
  readonly flushesInFlightMax = 1
  readonly #store: ObjectStore & SegmentStore
  readonly #metadata: Metadata
  readonly #node: NodeIdentity
  readonly #segmentBytes: number
  #current: Segment | null = null
  /** The segment after the current one, being made ahead of need. */
  #next: Promise<Segment> | null = null
  /** The last segment that holds committed frames: the next one's header says where it ends. */
  #previous: { readonly sequence: number; readonly committedBytes: number } | null = null
  /** A segment whose last write failed: its end must be in SQL before offsets of the failed frame are committed elsewhere. */
  #failed: Segment | null = null
  readonly #recycled: string[] = []
  #closed = false

  constructor(store: ObjectStore & SegmentStore, metadata: Metadata, node: NodeIdentity, segmentBytes: number) {
    this.#store = store
    this.#metadata = metadata
    this.#node = node
    this.#segmentBytes = segmentBytes
    this.#prepareNext()
  }

  async write(flush: Flush): Promise<FrameLocation> {
    const roomBytes = flush.lengthBytes + flush.runs.length * 128 + frameOverheadBytes
    const segment = await this.#segmentWithRoom(roomBytes)
    const first = segment.endBytes === 0
    const position = first ? WAL_FRAME_ALIGNMENT : segment.endBytes
    const identity = this.#identity(segment.segmentId)
    const frame = encodeWalFrame({ identity, position, body: flush.body(), runs: flush.walRuns() })
    if (position + frame.lengthBytes > segment.unit.lengthBytes) throw new Error('a frame outgrew its segment')
    const header = encodeSegmentHeader({ identity, sizeBytes: segment.unit.lengthBytes, previous: this.#previous })
    try {
      if (first) await segment.writer.write(0, [header, ...frame.buffers])
      else await segment.writer.write(position, frame.buffers)
    } catch (cause) {
      this.#failed = segment
      this.#current = null
      throw new AppendFailedError(`segment ${segment.unit.key} could not be written at ${position}`, { cause })
    }
    segment.endBytes = align(position + frame.lengthBytes)
    if (segment.endBytes > segment.unit.lengthBytes / 2) this.#prepareNext()
    return { key: segment.unit.key, position, unit: segment.unit }
  }

  isComplete(unit: WalUnit): boolean {
    return this.#current?.unit !== unit
  }

  release(unit: WalUnit): void {
    if (unit.lengthBytes === this.#segmentBytes && this.#recycled.length < recycledFilesMax)
      this.#recycled.push(unit.key)
  }

  async close(): Promise<void> {
    this.#closed = true
    const next = this.#next
    this.#next = null
    const current = this.#current
    this.#current = null
    // A segment that could not be made has already been reported to whoever waited for it; here only a made one matters.
    const prepared = await next?.catch(() => null)
    for (const segment of [current, prepared]) {
      if (segment === null || segment === undefined) continue
      await segment.writer.close()
      // Nothing was ever written to it. Its row stays, and says no more than that to the next start.
      if (segment.endBytes === 0) await this.#store.delete([segment.unit.key])
    }
  }

  async #segmentWithRoom(roomBytes: number): Promise<Segment> {
    if (this.#failed !== null) await this.#recordEnd(this.#failed)
    const current = this.#current
    if (current !== null) {
      if (current.unit.lengthBytes - current.endBytes >= roomBytes) return current
      this.#previous = { sequence: current.segmentId, committedBytes: current.endBytes }
      this.#current = null
      await current.writer.close()
    }
    const oversized = roomBytes > this.#segmentBytes - WAL_FRAME_ALIGNMENT
    const segment = oversized ? await this.#make(align(roomBytes + WAL_FRAME_ALIGNMENT)) : await this.#takeNext()
    this.#current = segment
    return segment
  }

  /** A failed write is never repeated in place. The segment ends before it, and SQL says so before anything else is written. */
  async #recordEnd(segment: Segment): Promise<void> {
    try {
      await this.#metadata.log.closeWalSegment(this.#node, segment.segmentId, segment.endBytes)
    } catch (cause) {
      throw new AppendFailedError(`the end of segment ${segment.unit.key} could not be recorded`, { cause })
    }
    this.#failed = null
    if (segment.endBytes > 0) this.#previous = { sequence: segment.segmentId, committedBytes: segment.endBytes }
    await segment.writer.close()
  }

  #prepareNext(): void {
    if (this.#closed || this.#next !== null) return
    const next = this.#make(this.#segmentBytes)
    // Whoever needs the segment meets the error; until then nobody may be waiting.
    next.catch(() => undefined)
    this.#next = next
  }

  async #takeNext(): Promise<Segment> {
    this.#prepareNext()
    const next = this.#next
    this.#next = null
    if (next === null) throw new AppendFailedError('the WAL is closed')
    try {
      return await next
    } catch (cause) {
      throw new AppendFailedError('no segment could be made', { cause })
    }
  }

  async #make(sizeBytes: number): Promise<Segment> {
    const segmentId = await this.#metadata.nodes.reserve('segmentId', 1)
    const key = walKey(this.#node, segmentId)
    await this.#metadata.log.createWalSegment(this.#node, { segmentId, key, sizeBytes })
    const recycle = sizeBytes === this.#segmentBytes ? this.#recycled.pop() : undefined
    const writer = await this.#store.create(key, sizeBytes, recycle === undefined ? {} : { recycle })
    // The old key was doomed when its entries were packed; the file now lives on under the new one.
    if (recycle !== undefined) await this.#metadata.log.forgetDoomed([recycle])
    return { segmentId, writer, unit: { key, lengthBytes: sizeBytes, row: { walSegment: segmentId } }, endBytes: 0 }
  }

  #identity(sequence: number): WalIdentity {
    return { nodeId: this.#node.nodeId, nodeEpoch: this.#node.nodeEpoch, sequence }
  }
}

function align(bytes: number): number {
  return Math.ceil(bytes / WAL_FRAME_ALIGNMENT) * WAL_FRAME_ALIGNMENT
}
