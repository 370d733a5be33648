import { WriteError } from './errors.ts'
import { uuidToBytes } from './uuid.ts'

export interface ByteWriterSettings {
  /** Room of the first chunk of memory; each further one is twice as large, up to 64 KiB. */
  readonly initialBytes?: number
  /** Byte fields at least this long are kept by reference and not copied: below it a copy is cheaper than one more buffer in `writev`. */
  readonly referenceMinBytes?: number
}

/** Where an int32 was left out, to be filled in later. */
export interface Int32Place {
  readonly view: DataView
  readonly at: number
}

const chunkMaxBytes = 64 * 1024

/**
 * Writes big-endian values into chunks of memory; a full chunk is followed by another, never copied. A value that its
 * type cannot hold throws `WriteError`.
 *
 * Long byte fields are taken by reference, so that a record batch goes from the cache to the socket without a copy:
 * the caller must leave those bytes unchanged until the result has been sent. `finish` and `toBytes` end the writer's
 * life: what they return shares its memory.
 */
export class ByteWriter {
  /** What is complete, in order: parts of chunks, and referenced bytes between them. */
  readonly #parts: Uint8Array[] = []
  #partsBytes = 0
  #chunk: Buffer
  #view: DataView
  /** In the chunk, what is written but not yet among the parts lies between these two. */
  #from = 0
  #to = 0
  readonly #referenceMinBytes: number

  constructor(settings: ByteWriterSettings = {}) {
    this.#chunk = Buffer.allocUnsafe(settings.initialBytes ?? 512)
    this.#view = viewOf(this.#chunk)
    this.#referenceMinBytes = settings.referenceMinBytes ?? 4096
  }

  /** Bytes written so far, referenced ones included. */
  get length(): number {
    return this.#partsBytes + this.#to - this.#from
  }

  int8(value: number): void {
    if ((value << 24) >> 24 !== value) throw outOfRange('int8', value)
    const at = this.#claim(1)
    this.#view.setInt8(at, value)
  }

  uint8(value: number): void {
    if ((value & 0xff) !== value) throw outOfRange('uint8', value)
    const at = this.#claim(1)
    this.#view.setUint8(at, value)
  }

  int16(value: number): void {
    if ((value << 16) >> 16 !== value) throw outOfRange('int16', value)
    const at = this.#claim(2)
    this.#view.setInt16(at, value)
  }

  uint16(value: number): void {
    if ((value & 0xffff) !== value) throw outOfRange('uint16', value)
    const at = this.#claim(2)
    this.#view.setUint16(at, value)
  }

  int32(value: number): void {
    if ((value | 0) !== value) throw outOfRange('int32', value)
    const at = this.#claim(4)
    this.#view.setInt32(at, value)
  }

  uint32(value: number): void {
    if (value >>> 0 !== value) throw outOfRange('uint32', value)
    const at = this.#claim(4)
    this.#view.setUint32(at, value)
  }

  int64(value: bigint): void {
    if (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n) throw outOfRange('int64', value)
    const at = this.#claim(8)
    this.#view.setBigInt64(at, value)
  }

  /** An int64 from a safe integer. */
  int64FromNumber(value: number): void {
    if (!Number.isSafeInteger(value)) throw outOfRange('int64', value)
    const high = Math.floor(value / 2 ** 32)
    const at = this.#claim(8)
    this.#view.setInt32(at, high)
    this.#view.setUint32(at + 4, value - high * 2 ** 32)
  }

  float64(value: number): void {
    if (typeof value !== 'number') throw outOfRange('float64', value)
    const at = this.#claim(8)
    this.#view.setFloat64(at, value)
  }

  /** Unsigned LEB128 of an unsigned 32-bit value. */
  uvarint(value: number): void {
    if (value >>> 0 !== value) throw outOfRange('uvarint', value)
    let rest = value
    let at = this.#claim(uvarintLength(value))
    while (rest > 0x7f) {
      this.#chunk[at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#chunk[at] = rest
  }

  /** Zigzag varint of a signed 32-bit value. */
  varint(value: number): void {
    if ((value | 0) !== value) throw outOfRange('varint', value)
    this.uvarint(((value << 1) ^ (value >> 31)) >>> 0)
  }

  /** Zigzag varint of a signed 64-bit value. */
  varlong(value: bigint): void {
    if (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n) throw outOfRange('varlong', value)
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
    while (rest > 0x7fn) {
      this.uint8(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.uint8(Number(rest))
  }

  /** A varlong from a safe integer. Needs no bigint while the value fits 31 bits, as nearly every delta does. */
  varlongFromNumber(value: number): void {
    if (!Number.isSafeInteger(value)) throw outOfRange('varlong', value)
    if ((value | 0) === value) this.varint(value)
    else this.varlong(BigInt(value))
  }

  /** Sixteen bytes from canonical text. */
  uuid(value: string): void {
    this.copy(uuidToBytes(value))
  }

  /** Text as UTF-8 without a length in front; `byteLength` is `utf8Length(text)`, which the caller needed for the prefix. */
  utf8(text: string, byteLength: number): void {
    const at = this.#claim(byteLength)
    this.#chunk.write(text, at, byteLength, 'utf8')
  }

  /** Byte field: by reference from `referenceMinBytes` on, else copied. */
  put(bytes: Uint8Array): void {
    if (bytes.length < this.#referenceMinBytes) {
      this.copy(bytes)
      return
    }
    this.#closePart()
    this.#addPart(bytes)
  }

  /** Copies whatever the length, for bytes that the caller will reuse. */
  copy(bytes: Uint8Array): void {
    const at = this.#claim(bytes.length)
    this.#chunk.set(bytes, at)
  }

  /** Adds all that another writer holds: small parts are copied, large ones kept. */
  append(other: ByteWriter): void {
    for (const part of other.finish()) this.put(part)
  }

  /** Leaves room for an int32 known later, such as the length of what follows; see `fillInt32`. */
  reserveInt32(): Int32Place {
    const at = this.#claim(4)
    return { view: this.#view, at }
  }

  fillInt32(place: Int32Place, value: number): void {
    if ((value | 0) !== value) throw outOfRange('int32', value)
    place.view.setInt32(place.at, value)
  }

  /** What was written, in order and ready for `writev`. */
  finish(): Uint8Array[] {
    this.#closePart()
    return this.#parts
  }

  /** What was written as one view; copies if it lies in several parts. */
  toBytes(): Uint8Array {
    const parts = this.finish()
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, this.length)
  }

  /** Makes room for `length` bytes on end and returns where in the chunk they go. */
  #claim(length: number): number {
    if (this.#to + length > this.#chunk.length) this.#startChunk(length)
    const at = this.#to
    this.#to = at + length
    return at
  }

  #startChunk(neededBytes: number): void {
    this.#closePart()
    this.#chunk = Buffer.allocUnsafe(Math.max(neededBytes, Math.min(this.#chunk.length * 2, chunkMaxBytes)))
    this.#view = viewOf(this.#chunk)
    this.#from = 0
    this.#to = 0
  }

  #closePart(): void {
    if (this.#to === this.#from) return
    this.#addPart(this.#chunk.subarray(this.#from, this.#to))
    this.#from = this.#to
  }

  #addPart(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#partsBytes += bytes.length
  }
}

/** Bytes that `uvarint(value)` writes. */
export function uvarintLength(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  return value < 0x1000_0000 ? 4 : 5
}

/** Bytes of `text` in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}

function outOfRange(type: string, value: unknown): WriteError {
  return new WriteError(`${String(value)} does not fit ${type}`)
}
