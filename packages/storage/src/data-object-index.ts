import { ByteReader, crc32c, ReadError } from '@pico/binary'
import { asBuffer } from './as-buffer.ts'
import {
  type Chunk,
  DATA_FORMAT_VERSION,
  DATA_TRAILER_BYTES,
  dataTableEntryBytes,
  dataTrailerMagic,
  type StreamSlice,
} from './data-object.ts'
import { ObjectCorruptError, UnsupportedVersionError } from './errors.ts'
import type { ObjectStore } from './object-store.ts'

/** Which streams a data object holds, and where. */
export interface DataObjectIndex {
  /** What keeping it costs; grows with the object's streams and chunks. */
  readonly sizeInMemoryBytes: number
  /**
   * One stream's part, found by binary search and decoded by this call: keep it rather than ask for each read.
   * @throws ObjectCorruptError
   */
  slice(streamId: number): StreamSlice | undefined
}

/** Fetched at first: the whole footer of most objects in the same request as its trailer. */
const tailBytes = 64 * 1024
const chunkBytesMin = 14

/**
 * Reads and verifies the footer of a data object: one GET, two when it is longer than 64 KiB.
 * @param sizeBytes the object's exact length.
 * @throws ObjectCorruptError, UnsupportedVersionError, and what `store.get` throws.
 */
export async function readDataObjectIndex(
  store: Pick<ObjectStore, 'get'>,
  key: string,
  sizeBytes: number,
  signal?: AbortSignal,
): Promise<DataObjectIndex> {
  const options = signal === undefined ? {} : { signal }
  if (sizeBytes < DATA_TRAILER_BYTES) throw new ObjectCorruptError(key, 0, `it is only ${sizeBytes} bytes long`)
  const tailAt = Math.max(0, sizeBytes - tailBytes)
  const tail = asBuffer(await store.get(key, { offset: tailAt, length: sizeBytes - tailAt }, options))
  const { footerOffset, footerLength } = readTrailer(key, tail, sizeBytes)
  // Either way a buffer of its own, so that an index that is kept does not keep a part of the body.
  const footer = Buffer.allocUnsafeSlow(footerLength + DATA_TRAILER_BYTES)
  const missing = Math.max(0, tailAt - footerOffset)
  if (missing > 0) footer.set(await store.get(key, { offset: footerOffset, length: missing }, options))
  footer.set(tail.subarray(tail.length - (footer.length - missing)), missing)
  verify(key, footer, footerOffset)
  return new FooterIndex(key, footer.subarray(0, footerLength), footerOffset)
}

function readTrailer(key: string, tail: Buffer, sizeBytes: number): { footerOffset: number; footerLength: number } {
  const at = tail.length - DATA_TRAILER_BYTES
  const position = sizeBytes - DATA_TRAILER_BYTES
  if (tail.readBigUInt64BE(at + 20) !== dataTrailerMagic) throw new ObjectCorruptError(key, position, 'no trailer')
  const footerOffset = Number(tail.readBigUInt64BE(at))
  const footerLength = tail.readUInt32BE(at + 8)
  if (footerOffset + footerLength !== position) {
    throw new ObjectCorruptError(key, position, 'the trailer does not fit the length of the object')
  }
  return { footerOffset, footerLength }
}

/** @param footer with its trailer. */
function verify(key: string, footer: Buffer, footerOffset: number): void {
  const trailerAt = footer.length - DATA_TRAILER_BYTES
  if (footer.readUInt32BE(trailerAt + 16) !== crc32c(footer.subarray(0, trailerAt + 16))) {
    throw new ObjectCorruptError(key, footerOffset, 'the checksum of the footer does not match')
  }
  const version = footer.readUInt32BE(trailerAt + 12)
  if (version !== DATA_FORMAT_VERSION) throw new UnsupportedVersionError(key, version)
  if (trailerAt < 4 || footer.readUInt32BE(0) > (trailerAt - 4) / dataTableEntryBytes) {
    throw new ObjectCorruptError(key, footerOffset, 'the footer is shorter than its table')
  }
}

class FooterIndex implements DataObjectIndex {
  readonly #key: string
  readonly #footer: Buffer
  readonly #footerOffset: number
  readonly #streamCount: number

  constructor(key: string, footer: Buffer, footerOffset: number) {
    this.#key = key
    this.#footer = footer
    this.#footerOffset = footerOffset
    this.#streamCount = footer.readUInt32BE(0)
  }

  get sizeInMemoryBytes(): number {
    return this.#footer.buffer.byteLength + 128
  }

  slice(streamId: number): StreamSlice | undefined {
    const row = this.#rowOf(streamId)
    if (row === undefined) return undefined
    const recordOffset = this.#footer.readUInt32BE(tableAt(row) + 8)
    try {
      const reader = new ByteReader(this.#footer)
      reader.skip(recordOffset)
      return this.#readSlice(reader, streamId)
    } catch (error) {
      if (error instanceof ReadError) throw this.#corrupt(`the record of stream ${streamId} is malformed`, error)
      throw error
    }
  }

  #readSlice(reader: ByteReader, streamId: number): StreamSlice {
    const position = reader.int64AsNumber()
    const baseOffset = reader.int64AsNumber()
    const endOffset = reader.int64AsNumber()
    const count = reader.uvarint()
    if (count === 0 || count > reader.remaining / chunkBytesMin) {
      throw this.#corrupt(`the record of stream ${streamId} claims ${count} chunks`)
    }
    const chunks: Chunk[] = []
    let at = position
    let offset = baseOffset
    let maxTimestampMs = Number.NEGATIVE_INFINITY
    for (let i = 0; i < count; i++) {
      offset += reader.varlongAsNumber()
      const lengthBytes = reader.uvarint()
      const chunkMaxTimestampMs = reader.int64AsNumber()
      chunks.push({
        baseOffset: offset,
        position: at,
        lengthBytes,
        maxTimestampMs: chunkMaxTimestampMs,
        crc32c: reader.uint32(),
      })
      at += lengthBytes
      maxTimestampMs = Math.max(maxTimestampMs, chunkMaxTimestampMs)
    }
    if (position < 0 || at > this.#footerOffset || offset >= endOffset) {
      throw this.#corrupt(`the record of stream ${streamId} is impossible`)
    }
    return { streamId, baseOffset, endOffset, position, lengthBytes: at - position, maxTimestampMs, chunks }
  }

  /** The stream's row in the table, which is sorted by stream id. */
  #rowOf(streamId: number): number | undefined {
    let low = 0
    let high = this.#streamCount
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#streamIdAt(middle) < streamId) low = middle + 1
      else high = middle
    }
    return low < this.#streamCount && this.#streamIdAt(low) === streamId ? low : undefined
  }

  #streamIdAt(row: number): number {
    const at = tableAt(row)
    return this.#footer.readUInt32BE(at) * 2 ** 32 + this.#footer.readUInt32BE(at + 4)
  }

  #corrupt(reason: string, cause?: Error): ObjectCorruptError {
    return new ObjectCorruptError(this.#key, this.#footerOffset, reason, cause === undefined ? {} : { cause })
  }
}

function tableAt(row: number): number {
  return 4 + row * dataTableEntryBytes
}
