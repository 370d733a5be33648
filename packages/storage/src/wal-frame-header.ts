import { crc32c } from '@pico/binary'
import { asBuffer } from './as-buffer.ts'
import type { WalIdentity } from './wal-frame.ts'

/** Frames begin at multiples of this in their file, and are multiples of it long. */
export const WAL_FRAME_ALIGNMENT = 512
/** Where a frame's body, and so its first run, begins. */
export const WAL_FRAME_HEADER_BYTES = 52
export const WAL_FRAME_TRAILER_BYTES = 16
/** The version that is written. Version 1 is read as well: its frames were written one at a time. */
export const WAL_FORMAT_VERSION = 2

const magic = 0x5069636f57414c46n // "PicoWALF"
const magicByte = 0x50
const noFrame = { invalid: 'no frame begins here' }
const crcAt = WAL_FRAME_HEADER_BYTES - 4

/** What a frame's header says; every field is covered by the header's own checksum. */
export interface WalFrameHeader {
  readonly version: number
  readonly identity: WalIdentity
  readonly position: number
  /** Where the last frame of the segment ended that was durable, with all before it, when this one was begun. 0 in an object. */
  readonly committedBytes: number
  readonly bodyLengthBytes: number
  readonly footerLengthBytes: number
  /** Of the whole frame: header, body, footer, padding, trailer. */
  readonly lengthBytes: number
}

/** Both multiples of `WAL_FRAME_ALIGNMENT`. */
export type WalFramePlace = Pick<WalFrameHeader, 'position' | 'committedBytes'>

export interface InvalidWalFrame {
  /** Why these bytes are not the frame that was expected here. */
  readonly invalid: string
}

/** A frame's header alone: enough to know that a frame was begun here, and how long it is. */
export function readWalFrameHeader(
  bytes: Uint8Array,
  at: number,
  expected: { readonly identity?: WalIdentity; readonly position: number },
): WalFrameHeader | InvalidWalFrame {
  if (bytes.length - at < WAL_FRAME_HEADER_BYTES) return { invalid: 'too short for a frame header' }
  // A scan of a segment's unwritten rest asks this of every 512 bytes: answer most of them from one byte.
  if (bytes[at] !== magicByte) return noFrame
  const header = asBuffer(bytes).subarray(at, at + WAL_FRAME_HEADER_BYTES)
  if (header.readBigUInt64BE(0) !== magic) return noFrame
  if (header.readUInt32BE(crcAt) !== crc32c(header.subarray(0, crcAt))) {
    return { invalid: 'the checksum of the header does not match' }
  }
  const version = header.readUInt32BE(8)
  if (!isKnownWalVersion(version)) return { invalid: `format version ${version} is not known` }
  const identity = readIdentity(header, 12)
  const { identity: wanted } = expected
  if (wanted !== undefined && !sameIdentity(identity, wanted)) return { invalid: 'the frame is of another segment' }
  const { position, committedBytes } = readPlace(header, version)
  if (position !== expected.position) return { invalid: `the frame belongs at byte ${position}` }
  const bodyLengthBytes = header.readUInt32BE(40)
  const footerLengthBytes = header.readUInt32BE(44)
  const lengthBytes = walFrameLength(bodyLengthBytes, footerLengthBytes)
  return { version, identity, position, committedBytes, bodyLengthBytes, footerLengthBytes, lengthBytes }
}

export function isKnownWalVersion(version: number): boolean {
  return version === 1 || version === WAL_FORMAT_VERSION
}

/** Node id, epoch and sequence: 20 bytes, the same in frames and segment headers. */
export function writeIdentity(target: Buffer, at: number, identity: WalIdentity): void {
  target.writeUInt32BE(identity.nodeId, at)
  target.writeBigUInt64BE(BigInt(identity.nodeEpoch), at + 4)
  target.writeBigUInt64BE(BigInt(identity.sequence), at + 12)
}

export function readIdentity(source: Buffer, at: number): WalIdentity {
  return {
    nodeId: source.readUInt32BE(at),
    nodeEpoch: Number(source.readBigUInt64BE(at + 4)),
    sequence: Number(source.readBigUInt64BE(at + 12)),
  }
}

export function sameIdentity(a: WalIdentity, b: WalIdentity): boolean {
  return a.nodeId === b.nodeId && a.nodeEpoch === b.nodeEpoch && a.sequence === b.sequence
}

export function encodeWalFrameHeader(
  identity: WalIdentity,
  place: WalFramePlace,
  bodyLength: number,
  footerLength: number,
): Buffer {
  const header = Buffer.allocUnsafe(WAL_FRAME_HEADER_BYTES)
  header.writeBigUInt64BE(magic, 0)
  header.writeUInt32BE(WAL_FORMAT_VERSION, 8)
  writeIdentity(header, 12, identity)
  header.writeUInt32BE(place.position / WAL_FRAME_ALIGNMENT, 32)
  header.writeUInt32BE(place.committedBytes / WAL_FRAME_ALIGNMENT, 36)
  header.writeUInt32BE(bodyLength, 40)
  header.writeUInt32BE(footerLength, 44)
  header.writeUInt32BE(crc32c(header.subarray(0, crcAt)), crcAt)
  return header
}

function readPlace(header: Buffer, version: number): WalFramePlace {
  if (version === 1) {
    const position = Number(header.readBigUInt64BE(32))
    return { position, committedBytes: position }
  }
  return {
    position: header.readUInt32BE(32) * WAL_FRAME_ALIGNMENT,
    committedBytes: header.readUInt32BE(36) * WAL_FRAME_ALIGNMENT,
  }
}

export function walFrameLength(bodyLength: number, footerLength: number): number {
  const exact = WAL_FRAME_HEADER_BYTES + bodyLength + footerLength + WAL_FRAME_TRAILER_BYTES
  return Math.ceil(exact / WAL_FRAME_ALIGNMENT) * WAL_FRAME_ALIGNMENT
}
