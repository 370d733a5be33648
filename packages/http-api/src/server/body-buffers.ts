const smallestBytes = 128 * 1024
/** Larger bodies are rare, and their memory is better given back. */
const largestBytes = 1024 * 1024
/** Kept at most, of all sizes together. */
const keptBytesMax = 16 * 1024 * 1024

/**
 * Memory for bodies that come in more than one chunk: used again and again, since a body is done with as soon as its records are in
 * the log. What is not given back is collected like any other memory.
 */
export class BodyBuffers {
  /** Free ones by their size, which is a power of two. */
  readonly #free = new Map<number, Buffer[]>()
  #keptBytes = 0

  /** Of at least `bytes`. What is in it is whatever was. */
  take(bytes: number): Buffer {
    const size = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes)))
    if (size > largestBytes) return Buffer.allocUnsafe(bytes)
    const buffer = this.#free.get(size)?.pop()
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size)
    this.#keptBytes -= size
    return buffer
  }

  /** Nobody may read or write it from now on. */
  give(buffer: Buffer): void {
    const size = buffer.length
    const isOurs = size >= smallestBytes && size <= largestBytes && size === buffer.buffer.byteLength
    if (!isOurs || !Number.isInteger(Math.log2(size)) || this.#keptBytes + size > keptBytesMax) return
    const free = this.#free.get(size)
    if (free === undefined) this.#free.set(size, [buffer])
    else free.push(buffer)
    this.#keptBytes += size
  }
}
