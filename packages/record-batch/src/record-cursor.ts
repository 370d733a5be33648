import { RecordBatchError } from './errors.ts'

/**
 * Walks uncompressed v2 records without allocating: after each `next()` the fields describe one record by positions
 * in `bytes`. The checks are those of Kafka's DefaultRecord.readFrom, so what passes here is readable there.
 * Throws `PICO_RECORD_BATCH_BAD_RECORD`.
 *
 * A record: varint length of the rest, int8 attributes, varlong timestamp delta, varint offset delta, varint key
 * length, key, varint value length, value, varint header count, then per header key length, key, value length, value.
 * Any negative length but a header key's means null.
 */
export class RecordCursor {
  readonly bytes: Uint8Array
  /** Records passed. */
  index = 0
  /** Milliseconds; not a safe integer if the field holds more than `number` can. */
  timestampDelta = 0
  offsetDelta = 0
  /** Where the key length is: from here to `recordEnd` nothing depends on the record's place in the batch. */
  payloadAt = 0
  keyAt = 0
  /** Negative for null. */
  keyLength = -1
  valueAt = 0
  /** Negative for null. */
  valueLength = -1
  headersAt = 0
  headerCount = 0
  recordEnd = 0

  readonly #end: number
  readonly #count: number
  #at: number
  /** The end of what may be read now: of the record, or between two records of the whole. */
  #limit: number

  /** Over exactly `count` records that fill `at` to `end`. */
  constructor(bytes: Uint8Array, at: number, end: number, count: number) {
    this.bytes = bytes
    this.#at = at
    this.#end = end
    this.#limit = end
    this.#count = count
  }

  /** Moves to the next record; false after the last, which has to end where the records do. */
  next(): boolean {
    if (this.index === this.#count) {
      if (this.#at !== this.#end) throw this.#bad(`${this.#end - this.#at} bytes follow the last record`)
      return false
    }
    this.#limit = this.#end
    const length = this.#varint()
    const recordEnd = this.#at + length
    if (length < 0 || recordEnd > this.#end) throw this.#bad(`${length} bytes where ${this.#end - this.#at} are left`)
    this.#limit = recordEnd
    this.recordEnd = recordEnd
    this.#skip(1) // attributes: no bit has a meaning
    this.timestampDelta = this.#varlong()
    this.offsetDelta = this.#varint()
    this.payloadAt = this.#at

    this.keyLength = this.#varint()
    this.keyAt = this.#at
    this.#skip(this.keyLength)
    this.valueLength = this.#varint()
    this.valueAt = this.#at
    this.#skip(this.valueLength)

    this.headerCount = this.#varint()
    this.headersAt = this.#at
    if (this.headerCount !== 0) this.#skipHeaders()
    if (this.#at !== recordEnd) throw this.#bad(`${recordEnd - this.#at} bytes more than its fields`)
    this.index++
    return true
  }

  /**
   * Visits the headers of the record that `next()` moved to, which has checked them; a negative value length is null.
   */
  eachHeader(visit: (keyAt: number, keyLength: number, valueAt: number, valueLength: number) => void): void {
    const resumeAt = this.#at
    this.#at = this.headersAt
    this.#limit = this.recordEnd
    for (let i = 0; i < this.headerCount; i++) {
      const keyLength = this.#varint()
      const keyAt = this.#at
      this.#skip(keyLength)
      const valueLength = this.#varint()
      visit(keyAt, keyLength, this.#at, valueLength)
      this.#skip(valueLength)
    }
    this.#at = resumeAt
  }

  #skipHeaders(): void {
    // Each takes two bytes or more, so a count beyond the bytes left ends the loop early.
    if (this.headerCount < 0) throw this.#bad(`${this.headerCount} headers`)
    for (let i = 0; i < this.headerCount; i++) {
      const keyLength = this.#varint()
      if (keyLength < 0) throw this.#bad('a header without a key')
      this.#skip(keyLength)
      this.#skip(this.#varint())
    }
  }

  /** Passes `length` bytes; a negative length stands for null and passes none. */
  #skip(length: number): void {
    if (length <= 0) return
    if (length > this.#limit - this.#at) throw this.#bad('a field reaches past its end')
    this.#at += length
  }

  /** Zigzag of 32 bits in at most 5 bytes. One and two bytes, nearly all there are, go without a loop. */
  #varint(): number {
    const bytes = this.bytes
    const at = this.#at
    if (at + 1 < this.#limit) {
      const first = bytes[at] as number
      if (first < 0x80) {
        this.#at = at + 1
        return (first >>> 1) ^ -(first & 1)
      }
      const second = bytes[at + 1] as number
      if (second < 0x80) {
        this.#at = at + 2
        const raw = (first & 0x7f) | (second << 7)
        return (raw >>> 1) ^ -(raw & 1)
      }
    }
    return this.#longVarint()
  }

  #longVarint(): number {
    let at = this.#at
    let raw = 0
    for (let shift = 0; shift < 35; shift += 7) {
      if (at >= this.#limit) throw this.#bad('it ends inside a number')
      const byte = this.bytes[at++] as number
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        this.#at = at
        return (raw >>> 1) ^ -(raw & 1)
      }
    }
    throw this.#bad('a number of more than 5 bytes')
  }

  /** Zigzag of 64 bits in at most 10 bytes; a value beyond 2^53 comes out as some unsafe integer. */
  #varlong(): number {
    const at = this.#at
    if (at + 1 < this.#limit) {
      const first = this.bytes[at] as number
      if (first < 0x80) {
        this.#at = at + 1
        return (first >>> 1) ^ -(first & 1)
      }
      const second = this.bytes[at + 1] as number
      if (second < 0x80) {
        this.#at = at + 2
        const raw = (first & 0x7f) | (second << 7)
        return (raw >>> 1) ^ -(raw & 1)
      }
    }
    return this.#longVarlong()
  }

  #longVarlong(): number {
    let at = this.#at
    let low = 0 // 28 bits
    let high = 0 // the 36 bits above
    let scale = 1
    for (let i = 0; i < 10; i++) {
      if (at >= this.#limit) throw this.#bad('it ends inside a number')
      const byte = this.bytes[at++] as number
      const bits = byte & 0x7f
      if (i < 4) {
        low |= bits << (7 * i)
      } else {
        // Of the tenth byte only one bit is within the 64.
        high += (i === 9 ? bits & 1 : bits) * scale
        scale *= 128
      }
      if (byte < 0x80) {
        this.#at = at
        const half = high * 2 ** 27 + (low >>> 1)
        return (low & 1) === 0 ? half : -half - 1
      }
    }
    throw this.#bad('a number of more than 10 bytes')
  }

  #bad(what: string): RecordBatchError {
    return new RecordBatchError('PICO_RECORD_BATCH_BAD_RECORD', `record ${this.index}: ${what}`)
  }
}
