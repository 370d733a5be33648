/** Bytes that are written front to back and whose number is not known before. Grows by doubling. */
export class GrowingBytes {
  /** Replaced by `reserve`: take it again afterwards. */
  bytes: Uint8Array
  /** What is written so far. Move it on after writing. */
  length: number
  readonly #maxBytes: number

  /**
   * In memory of so many bytes, or in the caller's, as long as it is enough.
   * Never allocates more than `maxBytes`, within which the caller has to stay.
   */
  constructor(initial: number | Uint8Array, length = 0, maxBytes = Number.POSITIVE_INFINITY) {
    this.bytes = typeof initial === 'number' ? Buffer.allocUnsafe(initial) : initial
    this.length = length
    this.#maxBytes = maxBytes
  }

  /** Makes room for `moreBytes` after `length`, and returns the bytes to write to. */
  reserve(moreBytes: number): Uint8Array {
    const needed = this.length + moreBytes
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(needed, this.bytes.length * 2)))
      grown.set(this.bytes.subarray(0, this.length))
      this.bytes = grown
    }
    return this.bytes
  }

  written(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }
}
