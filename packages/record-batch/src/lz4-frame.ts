import { compressFrameSync, uncompressSync } from 'lz4-napi'
import { badCompression, decompressedTooLarge, reasonOf } from './decompression-errors.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { xxhash32 } from './xxhash32.ts'

export type Lz4ReadRules = {
  /**
   * KIP-57: clients before Kafka 0.10 computed the header checksum over the wrong bytes, so in message sets of magic 0
   * and 1 it is not looked at.
   */
  readonly ignoreHeaderChecksum?: boolean
  /** Kafka and its Java clients cannot read blocks that refer to earlier ones. */
  readonly refuseLinkedBlocks?: boolean
}

/** One LZ4 frame of independent blocks, which is all that Java clients read. */
export function compressLz4Frame(bytes: Uint8Array): Uint8Array {
  return compressFrameSync(asBuffer(bytes))
}

/** One LZ4 frame (LZ4 frame format 1.6.4); every checksum it carries is verified. */
export function decompressLz4Frame(bytes: Uint8Array, maxBytes: number, rules: Lz4ReadRules = {}): Uint8Array {
  const header = readFrameHeader(bytes, rules)
  if (header.contentBytes !== null && header.contentBytes > maxBytes) throw decompressedTooLarge('lz4', maxBytes)
  const output = new GrowingBytes(Math.min(maxBytes, bytes.length * 4), 0, maxBytes)
  const append = (block: Uint8Array) => {
    if (output.length + block.length > maxBytes) throw decompressedTooLarge('lz4', maxBytes)
    output.reserve(block.length).set(block, output.length)
    output.length += block.length
  }
  let at = header.byteLength
  for (;;) {
    const word = littleUint32At(bytes, at)
    at += 4
    if (word === 0) break
    const length = word & 0x7fffffff
    if (length > header.maxBlockBytes)
      throw badCompression('lz4', `a block of ${length} bytes is over the frame's limit`)
    const block = take(bytes, at, length)
    at += length
    if (header.hasBlockChecksums) {
      if (littleUint32At(bytes, at) !== xxhash32(block)) throw badCompression('lz4', 'a block checksum does not match')
      at += 4
    }
    // The high bit marks a block stored as it is.
    if (word > 0x7fffffff) append(block)
    else append(uncompressBlock(block, header, output))
  }
  const content = output.written()
  if (header.hasContentChecksum) {
    if (littleUint32At(bytes, at) !== xxhash32(content))
      throw badCompression('lz4', 'the content checksum does not match')
    at += 4
  }
  if (header.contentBytes !== null && header.contentBytes !== content.length) {
    throw badCompression('lz4', `${content.length} bytes where the header says ${header.contentBytes}`)
  }
  if (at !== bytes.length) throw badCompression('lz4', 'bytes follow the frame')
  return content
}

type FrameHeader = {
  readonly byteLength: number
  readonly maxBlockBytes: number
  readonly hasLinkedBlocks: boolean
  readonly hasBlockChecksums: boolean
  readonly hasContentChecksum: boolean
  /** If the frame says so. */
  readonly contentBytes: number | null
}

const frameMagic = 0x184d2204
const maxBlockBytesById: Readonly<Record<number, number>> = { 4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20 }

/** How far back a match can reach. */
const windowBytes = 64 * 1024

function readFrameHeader(bytes: Uint8Array, rules: Lz4ReadRules): FrameHeader {
  if (littleUint32At(bytes, 0) !== frameMagic) throw badCompression('lz4', 'no LZ4 frame begins here')
  const flags = byteAt(bytes, 4)
  const blockDescriptor = byteAt(bytes, 5)
  if (flags >>> 6 !== 1) throw badCompression('lz4', `frame version ${flags >>> 6} is unknown`)
  const hasLinkedBlocks = (flags & 0x20) === 0
  if (hasLinkedBlocks && rules.refuseLinkedBlocks) {
    throw badCompression('lz4', 'blocks must be independent: Kafka clients in Java cannot read linked ones')
  }
  if ((flags & 0x03) !== 0) throw badCompression('lz4', 'a dictionary or a reserved flag is set')
  const maxBlockBytes = maxBlockBytesById[blockDescriptor >>> 4]
  if (maxBlockBytes === undefined || (blockDescriptor & 0x0f) !== 0) {
    throw badCompression('lz4', `block descriptor ${blockDescriptor} is unknown`)
  }
  const hasContentSize = (flags & 0x08) !== 0
  const descriptorBytes = hasContentSize ? 10 : 2
  const descriptor = take(bytes, 4, descriptorBytes)
  const checksum = byteAt(bytes, 4 + descriptorBytes)
  if (!rules.ignoreHeaderChecksum && checksum !== ((xxhash32(descriptor) >>> 8) & 0xff)) {
    throw badCompression('lz4', 'the frame header checksum does not match')
  }
  return {
    byteLength: 4 + descriptorBytes + 1,
    maxBlockBytes,
    hasLinkedBlocks,
    hasBlockChecksums: (flags & 0x10) !== 0,
    hasContentChecksum: (flags & 0x04) !== 0,
    contentBytes: hasContentSize ? littleUint32At(bytes, 6) + littleUint32At(bytes, 10) * 2 ** 32 : null,
  }
}

function uncompressBlock(block: Uint8Array, header: FrameHeader, output: GrowingBytes): Uint8Array {
  // The library takes a little-endian output size in front of the block, allocates that much, and accepts less.
  // No sequence yields more than 255 bytes for each of its own.
  const prefixed = Buffer.allocUnsafe(4 + block.length)
  prefixed.writeUInt32LE(Math.min(header.maxBlockBytes, block.length * 255), 0)
  prefixed.set(block, 4)
  const reach = header.hasLinkedBlocks ? Math.min(output.length, windowBytes) : 0
  const dictionary = reach === 0 ? null : output.bytes.subarray(output.length - reach, output.length)
  try {
    return uncompressSync(prefixed, dictionary)
  } catch (error) {
    throw badCompression('lz4', reasonOf(error), error)
  }
}

function take(bytes: Uint8Array, at: number, length: number): Uint8Array {
  need(bytes, at + length)
  return bytes.subarray(at, at + length)
}

function byteAt(bytes: Uint8Array, at: number): number {
  need(bytes, at + 1)
  return bytes[at] as number
}

function littleUint32At(bytes: Uint8Array, at: number): number {
  need(bytes, at + 4)
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
  return (low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)) >>> 0
}

function need(bytes: Uint8Array, end: number): void {
  if (end > bytes.length) throw badCompression('lz4', 'the data ends inside the frame')
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
