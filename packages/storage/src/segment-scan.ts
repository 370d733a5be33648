import assert from 'node:assert/strict'
import { ObjectTruncatedError, SegmentDamagedError, UnsupportedVersionError } from './errors.ts'
import { decodeWalFrame, type WalIdentity, type WalRun } from './wal-frame.ts'
import {
  isKnownWalVersion,
  readWalFrameHeader,
  WAL_FRAME_ALIGNMENT,
  WAL_FRAME_HEADER_BYTES,
} from './wal-frame-header.ts'
import { type PreviousSegment, readSegmentHeader, WAL_SEGMENT_HEADER_BYTES } from './wal-segment.ts'

/** Bytes `[offset, offset + length)` of the segment: `ObjectStore.get` with the key filled in. */
export type ReadSegment = (offset: number, length: number) => Promise<Uint8Array>

export interface SegmentScanOptions {
  /** Only for the message of an error. */
  readonly key: string
  readonly identity: WalIdentity
  readonly sizeBytes: number
  /**
   * Where the last acknowledged frame ends, when that is known (from the segment's row, or `previous` of a later segment):
   * everything up to there must be valid, and nothing beyond is read. Null for the segment that was being written last.
   */
  readonly committedBytes: number | null
}

export interface ScannedFrame {
  /** From the start of the segment; the positions of `runs` count from here. */
  readonly position: number
  readonly lengthBytes: number
  readonly runs: readonly WalRun[]
}

export interface SegmentScan {
  readonly frames: readonly ScannedFrame[]
  /** Where the last valid frame ends: 512 when there is a header and no frame, 0 when there is neither. */
  readonly endBytes: number
  /** From the segment's header; null as well when there is none. */
  readonly previous: PreviousSegment | null
  /** Not one valid frame. */
  readonly empty: boolean
  /**
   * What is wrong with what was begun at `endBytes` and is dropped, or null where nothing was. It was never acknowledged, unless it
   * was damaged since: nothing in the file can tell.
   */
  readonly droppedTail: string | null
}

/** Read at once unless a frame is longer: what a scan holds in memory is this or its longest frame. */
const pieceBytes = 4 * 1024 * 1024

/**
 * Reads a segment frame by frame and decides what an unreadable place means. A few frames may be on their way at once; they are
 * acknowledged in order, and each says how far the segment was durable when it was begun. So:
 * - a later frame says that what was here was durable: acknowledged data is damaged. SegmentDamagedError.
 * - none does: what was here was on its way, and so was all that comes after it. It was never acknowledged, and is dropped.
 *
 * A file shorter than `sizeBytes` is damaged as well, for a segment has its full length before its first frame.
 * @throws SegmentDamagedError, UnsupportedVersionError, and whatever `read` throws but ObjectTruncatedError.
 */
export async function scanSegment(read: ReadSegment, options: SegmentScanOptions): Promise<SegmentScan> {
  const { key, identity, sizeBytes, committedBytes } = options
  assert(sizeBytes % WAL_FRAME_ALIGNMENT === 0 && (committedBytes ?? 0) <= sizeBytes)
  if (committedBytes !== null && committedBytes <= WAL_SEGMENT_HEADER_BYTES) {
    return { frames: [], endBytes: 0, previous: null, empty: true, droppedTail: null }
  }
  const limit = committedBytes ?? sizeBytes
  const window = new SegmentWindow(read, key, limit)
  const header = readSegmentHeader(await window.bytes(0, WAL_SEGMENT_HEADER_BYTES), identity)
  if (!('invalid' in header) && !isKnownWalVersion(header.version)) {
    throw new UnsupportedVersionError(key, header.version)
  }
  const { frames, end, stop } = await readFrames(window, identity, limit)
  let droppedTail = stop.begunFrame
  if (committedBytes === null) {
    const later = await findLaterFrames(window, identity, { end, from: stop.searchFrom, limit })
    if (later.witness !== null) {
      throw new SegmentDamagedError(
        key,
        end,
        `${stop.reason}, yet it was durable when the frame at byte ${later.witness} was begun`,
      )
    }
    if (later.first !== null) droppedTail ??= `${stop.reason}, and a later frame was begun at byte ${later.first}`
  } else if (end !== limit) {
    throw new SegmentDamagedError(key, end, `${stop.reason}, yet frames up to byte ${limit} were acknowledged`)
  }
  const empty = frames.length === 0
  if ('invalid' in header) {
    if (!empty) throw new SegmentDamagedError(key, 0, `${header.invalid}, yet frames follow`)
    return { frames, endBytes: 0, previous: null, empty, droppedTail }
  }
  if (header.sizeBytes !== sizeBytes) {
    throw new SegmentDamagedError(key, 0, `it was made ${header.sizeBytes} bytes long, not ${sizeBytes}`)
  }
  return { frames, endBytes: end, previous: header.previous, empty, droppedTail }
}

interface Frames {
  readonly frames: ScannedFrame[]
  readonly end: number
  /** Why reading stopped at `end`, and where a frame after the unreadable one could begin. */
  readonly stop: {
    readonly reason: string
    readonly searchFrom: number
    /** The reason, where an intact header says that a frame was begun here. */
    readonly begunFrame: string | null
  }
}

async function readFrames(window: SegmentWindow, identity: WalIdentity, limit: number): Promise<Frames> {
  const frames: ScannedFrame[] = []
  let position = WAL_SEGMENT_HEADER_BYTES
  while (position < limit) {
    const expected = { identity, position }
    const start = await window.bytes(position, Math.min(WAL_FRAME_HEADER_BYTES, limit - position))
    const header = readWalFrameHeader(start, 0, expected)
    if ('invalid' in header) {
      const searchFrom = position + WAL_FRAME_ALIGNMENT
      return { frames, end: position, stop: { reason: header.invalid, searchFrom, begunFrame: null } }
    }
    const next = position + header.lengthBytes
    if (next > limit) {
      const reason = `a frame of ${header.lengthBytes} bytes does not fit`
      return { frames, end: position, stop: { reason, searchFrom: position + WAL_FRAME_ALIGNMENT, begunFrame: reason } }
    }
    const frame = decodeWalFrame(await window.bytes(position, header.lengthBytes), 0, expected)
    // The header is intact, so this frame's extent is known, and what lies inside it is its data and no later frame.
    if ('invalid' in frame) {
      return { frames, end: position, stop: { reason: frame.invalid, searchFrom: next, begunFrame: frame.invalid } }
    }
    frames.push({ position, lengthBytes: frame.lengthBytes, runs: frame.runs })
    position = next
  }
  return { frames, end: position, stop: { reason: 'the segment ends', searchFrom: limit, begunFrame: null } }
}

interface LaterFrames {
  /** Where the first of them begins. */
  readonly first: number | null
  /** Where one begins that was begun when more than `end` bytes were durable. */
  readonly witness: number | null
}

/** Frames of this segment at or after `from`, whether or not all of them is valid: an intact header is enough. */
async function findLaterFrames(
  window: SegmentWindow,
  identity: WalIdentity,
  { end, from, limit }: { readonly end: number; readonly from: number; readonly limit: number },
): Promise<LaterFrames> {
  let first: number | null = null
  let at = from
  while (at < limit) {
    const start = at
    const piece = await window.bytes(start, Math.min(pieceBytes, limit - start))
    while (at < start + piece.length) {
      const header = readWalFrameHeader(piece, at - start, { identity, position: at })
      if ('invalid' in header) {
        at += WAL_FRAME_ALIGNMENT
        continue
      }
      if (header.committedBytes > end) return { first: first ?? at, witness: at }
      first ??= at
      // What lies inside it is its data and no later frame.
      at += header.lengthBytes
    }
  }
  return { first, witness: null }
}

/** The part of a segment that is in memory: moved forward as the scan goes. */
class SegmentWindow {
  readonly #read: ReadSegment
  readonly #key: string
  readonly #limit: number
  #start = 0
  #held: Uint8Array = new Uint8Array(0)

  constructor(read: ReadSegment, key: string, limit: number) {
    this.#read = read
    this.#key = key
    this.#limit = limit
  }

  /** A view that is good until the next call. */
  async bytes(offset: number, length: number): Promise<Uint8Array> {
    if (offset < this.#start || offset + length > this.#start + this.#held.length) await this.#move(offset, length)
    const at = offset - this.#start
    return this.#held.subarray(at, at + length)
  }

  async #move(offset: number, length: number): Promise<void> {
    const wanted = Math.min(Math.max(length, pieceBytes), this.#limit - offset)
    // Let go of the old piece first, so that two are never held at once.
    this.#held = new Uint8Array(0)
    const bytes = await this.#read(offset, wanted).catch((error: unknown) => {
      if (error instanceof ObjectTruncatedError) {
        throw new SegmentDamagedError(this.#key, offset, 'the file is shorter than it was made', { cause: error })
      }
      throw error
    })
    if (bytes.length !== wanted)
      throw new SegmentDamagedError(this.#key, offset, 'the file is shorter than it was made')
    this.#start = offset
    this.#held = bytes
  }
}
