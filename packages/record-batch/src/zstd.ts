import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { badCompression, decompressedTooLarge } from './decompression-errors.ts'
import { inflateBounded } from './zlib-inflation.ts'

export function compressZstd(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes)
}

/** One or more zstd frames (RFC 8878) without a dictionary. */
export function decompressZstd(bytes: Uint8Array, maxBytes: number): Uint8Array {
  // node:zlib takes what follows the last frame for the beginning of a further one and drops it; a Java consumer
  // fails on it. So the frames are delimited here.
  let at = 0
  while (at < bytes.length) at = skipFrame(bytes, at, maxBytes)
  return inflateBounded('zstd', zstdDecompressSync, bytes, maxBytes).output
}

const frameMagic = 0xfd2fb528
const skippableMagic = 0x184d2a50
const skippableMagicMask = 0xfffffff0
const blockType = { raw: 0, runLength: 1, compressed: 2 } as const

/** Where the frame at `at` ends, by its block headers (RFC 8878, section 3.1). */
function skipFrame(bytes: Uint8Array, at: number, maxBytes: number): number {
  const magic = littleEndian(bytes, at, 4)
  if ((magic & skippableMagicMask) >>> 0 === skippableMagic) return at + 8 + littleEndian(bytes, at + 4, 4)
  if (magic !== frameMagic) throw badCompression('zstd', 'no frame begins where one should')

  const descriptor = littleEndian(bytes, at + 4, 1)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const hasChecksum = (descriptor & 0x04) !== 0
  const windowBytes = isSingleSegment ? 0 : 1
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 0x03] as number
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] as number
  const contentSizeAt = at + 5 + windowBytes + dictionaryIdBytes
  // A claim of more than is allowed is refused before anything is decoded. The 2-byte form counts from 256.
  const contentSize = littleEndian(bytes, contentSizeAt, contentSizeBytes) + (contentSizeBytes === 2 ? 256 : 0)
  if (contentSize > maxBytes) throw decompressedTooLarge('zstd', maxBytes)

  let blockAt = contentSizeAt + contentSizeBytes
  for (;;) {
    const header = littleEndian(bytes, blockAt, 3)
    const size = ((header >>> 1) & 0x03) === blockType.runLength ? 1 : header >>> 3
    blockAt += 3 + size
    if ((header & 1) === 1) return blockAt + (hasChecksum ? 4 : 0)
  }
}

/** An unsigned integer of 0 to 8 bytes; beyond 2^53 rounded, which only compares. */
function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  if (at + length > bytes.length) throw badCompression('zstd', 'the data ends inside a frame')
  let value = 0
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] as number)
  return value
}
