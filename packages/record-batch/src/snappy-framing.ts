import { compressSync, uncompressSync } from 'snappy'
import { badCompression, decompressedTooLarge, reasonOf } from './decompression-errors.ts'
import { int32At, setInt32, uint32At } from './header-integers.ts'

/**
 * Snappy as Kafka has it: the framing of snappy-java's SnappyOutputStream, which Java clients and most others write,
 * or one raw snappy block, which librdkafka writes. Readers take both.
 *
 * Framing: 8 magic bytes, int32 version, int32 lowest compatible version, then chunks of int32 length and a raw block.
 */
const framingMagic = Uint8Array.of(0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00)
const framingHeaderBytes = 16
const framingVersion = 1

/** snappy-java's default, so that a Java consumer's buffers fit. */
const chunkBytes = 32 * 1024

/** In the Java framing. */
export function compressSnappy(bytes: Uint8Array): Uint8Array {
  const header = new Uint8Array(framingHeaderBytes)
  header.set(framingMagic)
  setInt32(header, 8, framingVersion)
  setInt32(header, 12, framingVersion)
  const parts: Uint8Array[] = [header]
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const block = compressSync(bytes.subarray(at, at + chunkBytes), copied)
    const length = new Uint8Array(4)
    setInt32(length, 0, block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

export function decompressSnappy(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (!isFramed(bytes, 0)) {
    checkClaim(bytes, maxBytes, 0)
    return uncompressBlock(bytes)
  }
  const blocks = framedBlocks(bytes)
  let outputBytes = 0
  for (const block of blocks) outputBytes += checkClaim(block, maxBytes, outputBytes)
  const only = blocks[0]
  if (only !== undefined && blocks.length === 1) return uncompressBlock(only)
  return Buffer.concat(blocks.map(uncompressBlock), outputBytes)
}

function isFramed(bytes: Uint8Array, at: number): boolean {
  if (bytes.length - at < framingHeaderBytes) return false
  return framingMagic.every((byte, i) => bytes[at + i] === byte)
}

function framedBlocks(bytes: Uint8Array): Uint8Array[] {
  const blocks: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    // Streams may be concatenated: snappy-java then meets the magic where a length would be.
    if (isFramed(bytes, at)) {
      const lowestVersion = int32At(bytes, at + 12)
      if (lowestVersion > framingVersion) throw badCompression('snappy', `framing version ${lowestVersion} is unknown`)
      at += framingHeaderBytes
      continue
    }
    if (bytes.length - at < 4) throw badCompression('snappy', 'the data ends inside a chunk length')
    const length = uint32At(bytes, at)
    at += 4
    if (length > bytes.length - at) throw badCompression('snappy', 'the data ends inside a chunk')
    blocks.push(bytes.subarray(at, at + length))
    at += length
  }
  return blocks
}

/** The length a raw block claims, once it is neither more than allowed nor more than its bytes can hold. */
function checkClaim(block: Uint8Array, maxBytes: number, outputBytes: number): number {
  const claim = claimedBytes(block)
  if (outputBytes + claim > maxBytes) throw decompressedTooLarge('snappy', maxBytes)
  // The densest element is a copy: 3 bytes for 64.
  if (claim > block.length * 22) throw badCompression('snappy', 'a block claims more than it can hold')
  return claim
}

/** The varint a raw block begins with. */
function claimedBytes(block: Uint8Array): number {
  let value = 0
  for (let i = 0; i < 5 && i < block.length; i++) {
    const byte = block[i] as number
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return value
  }
  throw badCompression('snappy', 'a block does not begin with its length')
}

function uncompressBlock(block: Uint8Array): Uint8Array {
  try {
    return uncompressSync(block, copied) as Buffer // a string only with `asBuffer: false`
  } catch (error) {
    throw badCompression('snappy', reasonOf(error), error)
  }
}

/** Buffers of JavaScript's own heap are freed in time; foreign ones wait for a full collection, and cost three times as much. */
const copied = { copyOutputData: true } as const
