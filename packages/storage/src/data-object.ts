import assert from 'node:assert/strict'
import { ByteWriter, crc32c } from '@pico/binary'

/** What one checksum covers: whole entries of one stream, about 64 KiB. */
export interface Chunk {
  readonly baseOffset: number
  /** From the start of the object. */
  readonly position: number
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  readonly crc32c: number
}

/** One stream's part of a data object: contiguous bytes, ascending offsets. */
export interface StreamSlice {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly position: number
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  readonly chunks: readonly Chunk[]
}

/** One entry of a stream, or several that lie side by side. */
export interface DataEntry {
  readonly streamId: number
  readonly baseOffset: number
  /** One past the last offset. */
  readonly endOffset: number
  readonly maxTimestampMs: number
  readonly bytes: Uint8Array
}

export const DATA_FORMAT_VERSION = 1
export const DATA_TRAILER_BYTES = 28
export const dataTrailerMagic = 0x5069636f44415441n // "PicoDATA"
/** Of one stream in the footer's table: id and place of its record. */
export const dataTableEntryBytes = 12

interface OpenSlice extends StreamSlice {
  endOffset: number
  lengthBytes: number
  maxTimestampMs: number
  readonly chunks: OpenChunk[]
}

type OpenChunk = { -readonly [Field in keyof Chunk]: Chunk[Field] }

/**
 * Describes a data object while its bytes go by: the caller writes the bytes of every `add` itself, in that order, and then
 * what `finish` returns. Nothing of an entry is kept.
 */
export class DataObjectBuilder {
  readonly #chunkBytes: number
  readonly #slices: OpenSlice[] = []
  readonly #streams = new Set<number>()
  #lengthBytes = 0
  #finished = false

  constructor(settings: { readonly chunkBytes?: number } = {}) {
    this.#chunkBytes = settings.chunkBytes ?? 64 * 1024
  }

  /** Of the object so far: bodies, and after `finish` the footer too. */
  get lengthBytes(): number {
    return this.#lengthBytes
  }

  /** One per stream, in the order of their bytes. */
  get slices(): readonly StreamSlice[] {
    return this.#slices
  }

  /**
   * Streams come one after the other, a stream's offsets ascending; anything else is a bug and asserted.
   * What comes in one call stays in one chunk, however long; a gap in the offsets begins a new one, so that each chunk is gapless.
   */
  add(entry: DataEntry): void {
    assert(!this.#finished, 'nothing is added to a finished object')
    assert(entry.bytes.length > 0 && entry.endOffset > entry.baseOffset)
    const slice = this.#sliceFor(entry)
    assert(entry.baseOffset >= slice.endOffset, 'the offsets of a stream ascend')
    const chunk = this.#chunkFor(slice, entry)
    chunk.crc32c = crc32c(entry.bytes, chunk.crc32c)
    chunk.lengthBytes += entry.bytes.length
    chunk.maxTimestampMs = Math.max(chunk.maxTimestampMs, entry.maxTimestampMs)
    slice.lengthBytes += entry.bytes.length
    slice.maxTimestampMs = Math.max(slice.maxTimestampMs, entry.maxTimestampMs)
    slice.endOffset = entry.endOffset
    this.#lengthBytes += entry.bytes.length
  }

  /** The footer and trailer, to be written after the last entry. */
  finish(): Uint8Array[] {
    assert(!this.#finished, 'an object is finished once')
    this.#finished = true
    const tail = encodeTail(this.#slices, this.#lengthBytes)
    this.#lengthBytes += tail.length
    return [tail]
  }

  #sliceFor({ streamId, baseOffset, maxTimestampMs }: DataEntry): OpenSlice {
    const last = this.#slices.at(-1)
    if (last?.streamId === streamId) return last
    assert(!this.#streams.has(streamId), `the entries of stream ${streamId} come together`)
    this.#streams.add(streamId)
    const position = this.#lengthBytes
    const slice = { streamId, baseOffset, endOffset: baseOffset, position, lengthBytes: 0, maxTimestampMs, chunks: [] }
    this.#slices.push(slice)
    return slice
  }

  #chunkFor(slice: OpenSlice, { baseOffset, maxTimestampMs }: DataEntry): OpenChunk {
    const last = slice.chunks.at(-1)
    if (last !== undefined && last.lengthBytes < this.#chunkBytes && slice.endOffset === baseOffset) return last
    const chunk = { baseOffset, position: this.#lengthBytes, lengthBytes: 0, maxTimestampMs, crc32c: 0 }
    slice.chunks.push(chunk)
    return chunk
  }
}

/** Footer and trailer (FORMAT.md, "Data object"). */
function encodeTail(slices: readonly StreamSlice[], footerOffset: number): Uint8Array {
  const tableBytes = 4 + slices.length * dataTableEntryBytes
  const chunkCount = slices.reduce((sum, slice) => sum + slice.chunks.length, 0)
  const records = new ByteWriter({ initialBytes: 64 + slices.length * 32 + chunkCount * 24 })
  const places = slices.map((slice) => {
    const recordOffset = tableBytes + records.length
    writeRecord(records, slice)
    return { streamId: slice.streamId, recordOffset }
  })
  places.sort((a, b) => a.streamId - b.streamId)

  const footerLength = tableBytes + records.length
  const tail = Buffer.allocUnsafeSlow(footerLength + DATA_TRAILER_BYTES)
  tail.writeUInt32BE(places.length, 0)
  places.forEach(({ streamId, recordOffset }, row) => {
    tail.writeBigUInt64BE(BigInt(streamId), 4 + row * dataTableEntryBytes)
    tail.writeUInt32BE(recordOffset, 4 + row * dataTableEntryBytes + 8)
  })
  tail.set(records.toBytes(), tableBytes)
  tail.writeBigUInt64BE(BigInt(footerOffset), footerLength)
  tail.writeUInt32BE(footerLength, footerLength + 8)
  tail.writeUInt32BE(DATA_FORMAT_VERSION, footerLength + 12)
  tail.writeUInt32BE(crc32c(tail.subarray(0, footerLength + 16)), footerLength + 16)
  tail.writeBigUInt64BE(dataTrailerMagic, footerLength + 20)
  return tail
}

function writeRecord(writer: ByteWriter, slice: StreamSlice): void {
  writer.int64FromNumber(slice.position)
  writer.int64FromNumber(slice.baseOffset)
  writer.int64FromNumber(slice.endOffset)
  writer.uvarint(slice.chunks.length)
  let previous = slice.baseOffset
  for (const chunk of slice.chunks) {
    writer.varlongFromNumber(chunk.baseOffset - previous)
    writer.uvarint(chunk.lengthBytes)
    writer.int64FromNumber(chunk.maxTimestampMs)
    writer.uint32(chunk.crc32c)
    previous = chunk.baseOffset
  }
}
