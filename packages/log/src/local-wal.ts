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

/** More at once gains little: three 16 KiB writes take a fifth longer than one, and eight share the same disk. */
const framesInFlightMax = 3

interface Segment {
  readonly segmentId: number
  readonly writer: SegmentWriter
  readonly unit: WalUnit
  /** Where the next frame goes. */
  endBytes: number
  /** Where the last frame ends that is durable, with all before it. */
  committedBytes: number
  /** Of the last frame that was begun: settles after those of all frames before it, and rejects where one of them failed. */
  lastFrame: Promise<void>
}

/** The writes between one failure and the next: those of a turn that has failed all fail. */
interface Turn {
  failure: unknown
}

/** A frame that has its place and is being written. */
interface PlacedFrame {
  readonly segment: Segment
  readonly position: number
  /** As `lastFrame` of the segment. */
  readonly durable: Promise<void>
}

/**
 * The local WAL: frames in preallocated segment files, one write and sync each, and the frame itself is the commit. A segment's
 * row is in SQL before its first frame; no SQL on the way of a flush. A few frames are written side by side, because a disk syncs
 * several small writes in little more time than one; they are committed in order, and each says how far the segment was committed
 * when it was begun, so that a start can tell what was on its way from what is damaged.
 */
export class LocalWal implements Wal {
  readonly flushesInFlightMax = framesInFlightMax
  readonly #store: ObjectStore & SegmentStore
  readonly #metadata: Metadata
  readonly #node: NodeIdentity
  readonly #segmentBytes: number
  #current: Segment | null = null
  /** The segment after the current one, being made ahead of need. */
  #next: Promise<Segment> | null = null
  #isNextAwaited = false
  /** The last segment that holds committed frames: the next one's header says where it ends. */
  #previous: { readonly sequence: number; readonly committedBytes: number } | null = null
  /** A segment whose last write failed: its end must be in SQL before offsets of the failed frame are committed elsewhere. */
  #failed: Segment | null = null
  readonly #recycled: string[] = []
  #closed = false
  /** Settles when the last frame that was handed in has its place, or has none. */
  #placing: Promise<void> = Promise.resolve()
  #turn: Turn = { failure: null }

  constructor(store: ObjectStore & SegmentStore, metadata: Metadata, node: NodeIdentity, segmentBytes: number) {
    this.#store = store
    this.#metadata = metadata
    this.#node = node
    this.#segmentBytes = segmentBytes
    this.#prepareNext()
  }

  write(flush: Flush): Promise<FrameLocation> {
    const turn = this.#turn
    const placing = this.#placing.then(() => {
      if (turn.failure !== null) throw turn.failure
      return this.#place(flush, turn)
    })
    this.#placing = placing.then(
      () => undefined,
      (error: unknown) => {
        turn.failure ??= error
      },
    )
    return placing.then(async ({ segment, position, durable }) => {
      await durable
      return { key: segment.unit.key, position, unit: segment.unit }
    })
  }

  resume(): void {
    this.#turn = { failure: null }
  }

  async #place(flush: Flush, turn: Turn): Promise<PlacedFrame> {
    const roomBytes = flush.lengthBytes + flush.runs.length * 128 + frameOverheadBytes
    const segment = await this.#segmentWithRoom(roomBytes)
    const first = segment.endBytes === 0
    const position = first ? WAL_FRAME_ALIGNMENT : segment.endBytes
    const { segmentId, unit, committedBytes } = segment
    const identity = this.#identity(segmentId)
    const frame = encodeWalFrame({ identity, position, committedBytes, body: flush.body(), runs: flush.walRuns() })
    const endBytes = position + frame.lengthBytes
    if (endBytes > unit.lengthBytes) throw new Error('a frame outgrew its segment')
    segment.endBytes = endBytes
    if (!first) {
      if (endBytes > unit.lengthBytes / 8) this.#prepareNext()
      return {
        segment,
        position,
        durable: this.#writeFrame(segment, turn, { at: position, buffers: frame.buffers, endBytes }),
      }
    }
    const header = encodeSegmentHeader({ identity, sizeBytes: unit.lengthBytes, previous: this.#previous })
    const durable = this.#writeFrame(segment, turn, { at: 0, buffers: [header, ...frame.buffers], endBytes })
    // No later frame may be there without the header.
    await durable
    return { segment, position, durable }
  }

  #writeFrame(
    segment: Segment,
    turn: Turn,
    {
      at,
      buffers,
      endBytes,
    }: { readonly at: number; readonly buffers: readonly Uint8Array[]; readonly endBytes: number },
  ): Promise<void> {
    const written = segment.writer.write(at, buffers)
    written.catch(() => undefined) // looked at in its turn, below
    const durable = segment.lastFrame.then(async () => {
      try {
        await written
      } catch (cause) {
        const failure = new AppendFailedError(`segment ${segment.unit.key} could not be written at ${at}`, { cause })
        turn.failure ??= failure
        this.#failed = segment
        this.#current = null
        throw failure
      }
      segment.committedBytes = endBytes
    })
    durable.catch(() => undefined) // whoever wrote it is told
    segment.lastFrame = durable
    return durable
  }

  isComplete(unit: WalUnit): boolean {
    return this.#current?.unit !== unit && this.#failed?.unit !== unit
  }

  release(unit: WalUnit): void {
    if (unit.lengthBytes === this.#segmentBytes && this.#recycled.length < recycledFilesMax)
      this.#recycled.push(unit.key)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#isNextAwaited = true
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
      await current.lastFrame
      this.#previous = { sequence: current.segmentId, committedBytes: current.committedBytes }
      this.#current = null
      await current.writer.close()
    }
    const oversized = roomBytes > this.#segmentBytes - WAL_FRAME_ALIGNMENT
    const segment = oversized
      ? await this.#make(align(roomBytes + WAL_FRAME_ALIGNMENT), () => false)
      : await this.#takeNext()
    this.#current = segment
    return segment
  }

  /** A failed write is never repeated in place. The segment ends before it, and SQL says so before anything else is written. */
  async #recordEnd(segment: Segment): Promise<void> {
    const { segmentId, unit, writer, committedBytes } = segment
    try {
      await this.#metadata.log.closeWalSegment(this.#node, segmentId, committedBytes)
    } catch (cause) {
      throw new AppendFailedError(`the end of segment ${unit.key} could not be recorded`, { cause })
    }
    if (committedBytes > 0) this.#previous = { sequence: segmentId, committedBytes }
    // Frames after the failed one may still be on their way: until they have landed the file must not be used again.
    await writer.close()
    this.#failed = null
  }

  #prepareNext(): void {
    if (this.#closed || this.#next !== null) return
    this.#isNextAwaited = false
    const next = this.#make(this.#segmentBytes, () => !this.#isNextUrgent)
    // Whoever needs the segment meets the error; until then nobody may be waiting.
    next.catch(() => undefined)
    this.#next = next
  }

  async #takeNext(): Promise<Segment> {
    this.#prepareNext()
    const next = this.#next
    this.#next = null
    this.#isNextAwaited = true
    if (next === null) throw new AppendFailedError('the WAL is closed')
    try {
      return await next
    } catch (cause) {
      throw new AppendFailedError('no segment could be made', { cause })
    }
  }

  get #isNextUrgent(): boolean {
    return this.#isNextAwaited || (this.#current?.endBytes ?? 0) > this.#segmentBytes / 2
  }

  async #make(sizeBytes: number, unhurried: () => boolean): Promise<Segment> {
    const segmentId = await this.#metadata.nodes.reserve('segmentId', 1)
    const key = walKey(this.#node, segmentId)
    await this.#metadata.log.createWalSegment(this.#node, { segmentId, key, sizeBytes })
    const recycle = sizeBytes === this.#segmentBytes ? this.#recycled.pop() : undefined
    const writer = await this.#store.create(key, sizeBytes, { unhurried, ...(recycle !== undefined && { recycle }) })
    // The old key was doomed when its entries were packed; the file now lives on under the new one.
    if (recycle !== undefined) await this.#metadata.log.forgetDoomed([recycle])
    const unit: WalUnit = { key, lengthBytes: sizeBytes, row: { walSegment: segmentId } }
    return { segmentId, writer, unit, endBytes: 0, committedBytes: 0, lastFrame: Promise.resolve() }
  }

  #identity(sequence: number): WalIdentity {
    return { nodeId: this.#node.nodeId, nodeEpoch: this.#node.nodeEpoch, sequence }
  }
}

function align(bytes: number): number {
  return Math.ceil(bytes / WAL_FRAME_ALIGNMENT) * WAL_FRAME_ALIGNMENT
}
