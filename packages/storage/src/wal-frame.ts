import assert from 'node:assert/strict'
import { crc32c } from '@pico/binary'
import { asBuffer } from './as-buffer.ts'
import { MalformedError } from './errors.ts'
import {
  encodeWalFrameHeader,
  type InvalidWalFrame,
  readWalFrameHeader,
  WAL_FRAME_ALIGNMENT,
  WAL_FRAME_HEADER_BYTES,
  WAL_FRAME_TRAILER_BYTES,
  walFrameLength,
} from './wal-frame-header.ts'
import { decodeWalIndex, encodeWalIndex } from './wal-index.ts'

const trailerMagic = 0x464c41576f636950n // "FLAWociP"

/** Who wrote a frame: it is part of the checksum, so that a recycled file's old frames never pass for new ones. */
export interface WalIdentity {
  readonly nodeId: number
  readonly nodeEpoch: number
  /** Segment id (local WAL) or object sequence (shared WAL). */
  readonly sequence: number
}

/** Consecutive entries of one stream that lie side by side in a frame. */
export interface WalRun {
  readonly streamId: number
  readonly baseOffset: number
  /** One past the last offset. */
  readonly endOffset: number
  /** From the start of the frame. */
  readonly position: number
  readonly lengthBytes: number
  /** Milliseconds since the epoch; -1 when no entry has one. */
  readonly maxTimestampMs: number
  /** CRC-32C of the run's bytes. */
  readonly crc32c: number
  /** What the engine's user wants back on recovery (for Kafka: producer id, epoch, sequences per batch). Opaque; often empty. */
  readonly summary: Uint8Array
}

/** A frame's parts, in the order they are written. The body is the caller's own buffers, not copied. */
export interface EncodedWalFrame {
  readonly buffers: Uint8Array[]
  /** A multiple of `WAL_FRAME_ALIGNMENT`. */
  readonly lengthBytes: number
  /** The footer: what `decodeWalIndex` reads, and what the frame's row keeps. */
  readonly index: Uint8Array
}

export interface DecodedWalFrame {
  readonly identity: WalIdentity
  /** Their summaries share no memory with the input. */
  readonly runs: WalRun[]
  readonly lengthBytes: number
}

/**
 * One flush as it is written: header, body, index, trailer (FORMAT.md, "WAL frame").
 * `runs` carry their checksums, and must fill the body in its order; anything else is a bug and asserted.
 * @param frame.position where the frame begins in its file; 0 for an object.
 * @param frame.committedBytes where the last frame before it ends that is known to be durable, with all before that; 0 for an object.
 */
export function encodeWalFrame(frame: {
  readonly identity: WalIdentity
  readonly position: number
  readonly committedBytes: number
  readonly body: readonly Uint8Array[]
  readonly runs: readonly WalRun[]
}): EncodedWalFrame {
  const bodyLength = frame.body.reduce((sum, buffer) => sum + buffer.length, 0)
  const footer = encodeWalIndex(frame.runs, bodyLength)
  const lengthBytes = walFrameLength(bodyLength, footer.length)
  assert(frame.position % WAL_FRAME_ALIGNMENT === 0, 'frames begin at a multiple of the alignment')
  assert(frame.committedBytes <= frame.position && frame.committedBytes % WAL_FRAME_ALIGNMENT === 0)
  assert(lengthBytes < 2 ** 32, 'a frame is shorter than 4 GiB')

  const header = encodeWalFrameHeader(frame.identity, frame, bodyLength, footer.length)
  const tail = Buffer.alloc(lengthBytes - WAL_FRAME_HEADER_BYTES - bodyLength)
  tail.set(footer)
  const trailerAt = tail.length - WAL_FRAME_TRAILER_BYTES
  tail.writeUInt32BE(crc32c(tail.subarray(0, trailerAt), crc32c(header)), trailerAt)
  tail.writeUInt32BE(lengthBytes, trailerAt + 4)
  tail.writeBigUInt64BE(trailerMagic, trailerAt + 8)
  return { buffers: [header, ...frame.body, tail], lengthBytes, index: tail.subarray(0, footer.length) }
}

/**
 * The frame that begins at `at`, with every byte of it verified: header, trailer, index and the checksum of each run.
 * Bytes that are no frame, or another than expected, are a value and not an error: a log's torn tail is ordinary.
 */
export function decodeWalFrame(
  bytes: Uint8Array,
  at: number,
  expected: { readonly identity?: WalIdentity; readonly position: number },
): DecodedWalFrame | InvalidWalFrame {
  const header = readWalFrameHeader(bytes, at, expected)
  if ('invalid' in header) return header
  const { lengthBytes, footerLengthBytes } = header
  if (bytes.length - at < lengthBytes) return { invalid: `the frame of ${lengthBytes} bytes is cut short` }

  const frame = asBuffer(bytes).subarray(at, at + lengthBytes)
  const footerAt = WAL_FRAME_HEADER_BYTES + header.bodyLengthBytes
  const trailerAt = lengthBytes - WAL_FRAME_TRAILER_BYTES
  if (frame.readBigUInt64BE(trailerAt + 8) !== trailerMagic) return { invalid: 'no trailer' }
  if (frame.readUInt32BE(trailerAt + 4) !== lengthBytes) return { invalid: 'the trailer has another length' }
  const checksum = crc32c(frame.subarray(footerAt, trailerAt), crc32c(frame.subarray(0, WAL_FRAME_HEADER_BYTES)))
  if (frame.readUInt32BE(trailerAt) !== checksum) return { invalid: 'the checksum of header and index does not match' }

  // A copy: what is kept of a frame must not keep the frame.
  const runs = tryDecodeIndex(Uint8Array.from(frame.subarray(footerAt, footerAt + footerLengthBytes)))
  if ('invalid' in runs) return runs
  let end = WAL_FRAME_HEADER_BYTES
  for (const run of runs) {
    end = run.position + run.lengthBytes
    if (end > footerAt) return { invalid: 'the runs are longer than the body' }
    if (crc32c(frame.subarray(run.position, end)) !== run.crc32c) {
      return { invalid: `the checksum of stream ${run.streamId} at offset ${run.baseOffset} does not match` }
    }
  }
  if (end !== footerAt) return { invalid: 'the runs are shorter than the body' }
  return { identity: header.identity, runs, lengthBytes }
}

function tryDecodeIndex(index: Uint8Array): WalRun[] | InvalidWalFrame {
  try {
    return decodeWalIndex(index)
  } catch (error) {
    if (error instanceof MalformedError) return { invalid: error.message }
    throw error
  }
}
