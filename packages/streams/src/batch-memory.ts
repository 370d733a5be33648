const smallestBytes = 64 * 1024
/** Larger batches are rare, and their memory is better given back. */
const keptBytesMax = 2 * 1024 * 1024

/**
 * Where batches of all streams are built, one after the other: the log copies a batch before the next one begins. Memory of its own for
 * each would be no part of the heap that the garbage collector looks at, so that it would let hundreds of them pile up.
 */
export class BatchMemory {
  #kept: Uint8Array = new Uint8Array(0)

  /** Of at least `bytes`. Good until it is called again. */
  take(bytes: number): Uint8Array {
    if (bytes > keptBytesMax) return Buffer.allocUnsafeSlow(bytes)
    if (bytes > this.#kept.length) {
      this.#kept = Buffer.allocUnsafeSlow(Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes))))
    }
    return this.#kept
  }
}
