import { isUtf8 } from 'node:buffer'
import { ValueRefusal } from '../value-refusal.ts'

/** How a field is written (Protobuf encoding, "Message Structure"). */
export const wireTypes = { varint: 0, fixed64: 1, length: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const

/** As deep as Protobuf's own parsers let messages nest, groups and unknown groups included. */
export const depthMax = 100

const shortStringBytes = 48

/** Passes over Protobuf's wire format, and makes nothing of it. Throws `ValueRefusal`. */
export class WireReader {
  bytes: Uint8Array = new Uint8Array(0)
  at = 0
  /** The end of the message under way. */
  end = 0

  open(bytes: Uint8Array): void {
    this.bytes = bytes
    this.at = 0
    this.end = bytes.length
  }

  /** A tag or a length: 32 bits in at most 5 bytes. */
  uint32(): number {
    const { bytes, end } = this
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      if (this.at >= end) this.truncated()
      const byte = bytes[this.at++] as number
      if (byte < 0x80) {
        if (shift === 28 && byte > 0x0f) break
        return (value | (byte << shift)) >>> 0
      }
      value |= (byte & 0x7f) << shift
    }
    throw new ValueRefusal('a tag or a length of more than 32 bits')
  }

  /** Passes over a number of up to 64 bits and gives its lowest 32, as an int32 is read. */
  varint(): number {
    const { bytes, end } = this
    let low = 0
    for (let i = 0; i < 10; i++) {
      if (this.at >= end) this.truncated()
      const byte = bytes[this.at++] as number
      if (i < 5) low |= (byte & 0x7f) << (7 * i)
      if (byte < 0x80) return low
    }
    throw new ValueRefusal('a number of more than 64 bits')
  }

  skip(length: number): void {
    if (length > this.end - this.at) throw new ValueRefusal(`${length} bytes, where ${this.end - this.at} are left`)
    this.at += length
  }

  utf8(length: number): void {
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

  /** The value of a field that is unknown; its tag is passed. */
  skipField(number: number, wireType: number, depth: number): void {
    switch (wireType) {
      case wireTypes.varint:
        this.varint()
        return
      case wireTypes.fixed64:
        this.skip(8)
        return
      case wireTypes.length:
        this.skip(this.uint32())
        return
      case wireTypes.fixed32:
        this.skip(4)
        return
      case wireTypes.startGroup:
        this.#skipGroup(number, depth + 1)
        return
      default:
        throw new ValueRefusal(`a field of the wire type ${wireType}`)
    }
  }

  #skipGroup(number: number, depth: number): void {
    if (depth > depthMax) throw new ValueRefusal(`messages nest deeper than ${depthMax}`)
    for (;;) {
      const tag = this.uint32()
      const inner = tag >>> 3
      if (inner === 0) throw new ValueRefusal('a field of the number 0')
      if ((tag & 7) === wireTypes.endGroup) {
        if (inner !== number) throw new ValueRefusal(`the end of group ${inner} in group ${number}`)
        return
      }
      this.skipField(inner, tag & 7, depth)
    }
  }

  truncated(): never {
    throw new ValueRefusal('the value is cut off')
  }
}
