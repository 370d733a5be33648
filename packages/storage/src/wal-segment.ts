import assert from 'node:assert/strict'
import { crc32c } from '@pico/binary'
import { asBuffer } from './as-buffer.ts'
import type { WalIdentity } from './wal-frame.ts'
import {
  readIdentity,
  sameIdentity,
  WAL_FORMAT_VERSION,
  WAL_FRAME_ALIGNMENT,
  writeIdentity,
} from './wal-frame-header.ts'

/** Where a segment's first frame begins. */
export const WAL_SEGMENT_HEADER_BYTES = WAL_FRAME_ALIGNMENT

const magic = 0x5069636f57414c53n // "PicoWALS"
const noPrevious = 0xffff_ffff_ffff_ffffn
const crcAt = WAL_SEGMENT_HEADER_BYTES - 4

/** How far an earlier segment of the same node and epoch was acknowledged. */
export interface PreviousSegment {
  readonly sequence: number
  /** Where its last acknowledged frame ends. */
  readonly committedBytes: number
}

export interface WalSegmentHeader {
  readonly version: number
  readonly identity: WalIdentity
  readonly sizeBytes: number
  readonly previous: PreviousSegment | null
}

/**
 * The first 512 bytes of a segment, written together with its first frame in one write.
 * `previous` says where the last segment with an acknowledged frame ended, so that only the last frames of the very last segment,
 * those that were on their way at once, can ever be an unacknowledged tail: anything unreadable before them is damage.
 */
export function encodeSegmentHeader(header: {
  readonly identity: WalIdentity
  readonly sizeBytes: number
  readonly previous: PreviousSegment | null
}): Uint8Array {
  const { identity, sizeBytes, previous } = header
  assert(sizeBytes % WAL_FRAME_ALIGNMENT === 0, 'a segment is a multiple of the alignment long')
  const bytes = Buffer.alloc(WAL_SEGMENT_HEADER_BYTES)
  bytes.writeBigUInt64BE(magic, 0)
  bytes.writeUInt32BE(WAL_FORMAT_VERSION, 8)
  writeIdentity(bytes, 12, identity)
  bytes.writeBigUInt64BE(BigInt(sizeBytes), 32)
  bytes.writeBigUInt64BE(previous === null ? noPrevious : BigInt(previous.sequence), 40)
  bytes.writeBigUInt64BE(BigInt(previous?.committedBytes ?? 0), 48)
  bytes.writeUInt32BE(crc32c(bytes.subarray(0, crcAt)), crcAt)
  return bytes
}

/**
 * The header of the segment `identity`, or why there is none. A recycled file still has its former header until the first
 * write, so another identity is ordinary. The version is left to the caller: an intact header of a newer one is no damage.
 */
export function readSegmentHeader(
  bytes: Uint8Array,
  identity: WalIdentity,
): WalSegmentHeader | { readonly invalid: string } {
  const header = asBuffer(bytes)
  if (header.length < WAL_SEGMENT_HEADER_BYTES) return { invalid: 'too short for a segment header' }
  if (header.readBigUInt64BE(0) !== magic) return { invalid: 'no segment header' }
  if (header.readUInt32BE(crcAt) !== crc32c(header.subarray(0, crcAt))) {
    return { invalid: 'the checksum of the segment header does not match' }
  }
  if (!sameIdentity(readIdentity(header, 12), identity)) return { invalid: 'the header is of another segment' }
  const sequence = header.readBigUInt64BE(40)
  return {
    version: header.readUInt32BE(8),
    identity,
    sizeBytes: Number(header.readBigUInt64BE(32)),
    previous:
      sequence === noPrevious
        ? null
        : { sequence: Number(sequence), committedBytes: Number(header.readBigUInt64BE(48)) },
  }
}
