import { isUtf8 } from 'node:buffer'
import { ValueRefusal } from '../value-refusal.ts'

/** Shorter strings are looked at byte by byte; a call into native code takes longer than that. */
const shortStringBytes = 48

/** Passes over Avro's binary encoding (specification 1.12, "Binary Encoding"), and makes nothing of it. Throws `ValueRefusal`. */
export class AvroReader {
  bytes: Uint8Array = new Uint8Array(0)
  at = 0
  end = 0
  /** Of the value so far: items that take no bytes cost nothing to claim. */
  emptyItems = 0
  /** Where the block that was opened last has to end; -1 if it does not say. */
  blockEnd = -1

  open(bytes: Uint8Array): void {
    this.bytes = bytes
    this.at = 0
    this.end = bytes.length
    this.emptyItems = 0
  }

  get left(): number {
    return this.end - this.at
  }

  skip(length: number): void {
    if (length > this.end - this.at) throw new ValueRefusal(`${length} bytes, where ${this.end - this.at} are left`)
    this.at += length
  }

  boolean(): void {
    const byte = this.at < this.end ? (this.bytes[this.at++] as number) : this.#truncated()
    if (byte > 1) throw new ValueRefusal(`a boolean of the byte ${byte}`)
  }

  int(): number {
    const { bytes } = this
    let raw = 0
    for (let shift = 0; shift < 35; shift += 7) {
      if (this.at >= this.end) this.#truncated()
      const byte = bytes[this.at++] as number
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        if (shift === 28 && byte > 0x0f) break
        return (raw >>> 1) ^ -(raw & 1)
      }
    }
    throw new ValueRefusal('a number of more than 32 bits')
  }

  /** Passes over a long. */
  skipLong(): void {
    const { bytes, end } = this
    const from = this.at
    for (let at = from; at < end && at < from + 10; at++) {
      const byte = bytes[at] as number
      if (byte >= 0x80) continue
      if (at === from + 9 && byte > 1) break
      this.at = at + 1
      return
    }
    if (end - from < 10) this.#truncated()
    throw new ValueRefusal('a number of more than 64 bits')
  }

  /** A long that counts or measures something: exact up to 2^53, which is more than any value holds. */
  size(): number {
    const { bytes } = this
    const first = this.at < this.end ? (bytes[this.at] as number) : this.#truncated()
    if (first < 0x80) {
      this.at++
      return (first >>> 1) ^ -(first & 1)
    }
    const from = this.at
    this.skipLong()
    let half = 0
    let scale = 1
    // Zigzag: the lowest bit is the sign, the rest is the number, or what is less than it by one, negated.
    const isNegative = (first & 1) === 1
    for (let at = from; at < this.at; at++) {
      const bits = (bytes[at] as number) & 0x7f
      half += at === from ? bits >>> 1 : bits * scale
      scale *= at === from ? 64 : 128
    }
    return isNegative ? -half - 1 : half
  }

  bytesField(): void {
    const length = this.size()
    if (length < 0) throw new ValueRefusal(`a length of ${length}`)
    this.skip(length)
  }

  string(): void {
    const length = this.size()
    if (length < 0) throw new ValueRefusal(`a length of ${length}`)
    const from = this.at
    this.skip(length)
    if (length <= shortStringBytes) {
      const { bytes, at: to } = this
      let at = from
      while (at < to && (bytes[at] as number) < 0x80) at++
      if (at === to) return
    }
    if (!isUtf8(this.bytes.subarray(from, this.at))) throw new ValueRefusal('a string that is not UTF-8')
  }

  #truncated(): never {
    throw new ValueRefusal('the value ends before its schema does')
  }
}
