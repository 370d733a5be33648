/**
 * Memory that is used again: garbage of this size, outside the heap, would make the collector mark the whole heap for every few tens of
 * megabytes, and fresh memory costs page faults.
 */
export class BufferPool {
  readonly #smallestBytes: number
  readonly #idleBytesMax: number
  /** By size, the longest unused first. */
  readonly #idle = new Map<number, Buffer[]>()
  #idleBytes = 0

  /**
   * @param settings.smallestBytes what is asked for at least; a power of two
   * @param settings.idleBytesMax most that is kept while nobody uses it
   */
  constructor(settings: { readonly smallestBytes?: number; readonly idleBytesMax?: number } = {}) {
    this.#smallestBytes = settings.smallestBytes ?? 16 * 1024
    this.#idleBytesMax = settings.idleBytesMax ?? 16 * 1024 * 1024
  }

  /** At least so many bytes, of unknown content: rounded up, by a quarter at most, so that a buffer fits many. */
  take(bytes: number): Buffer {
    const step = Math.max(this.#smallestBytes, 2 ** Math.floor(Math.log2(Math.max(1, bytes))) / 4)
    const size = Math.max(1, Math.ceil(bytes / step)) * step
    const idle = this.#idleOf(size).pop()
    if (idle === undefined) return Buffer.allocUnsafeSlow(size)
    this.#idleBytes -= size
    return idle
  }

  /** What `take` gave, when nobody looks at it any more and nobody writes to it. */
  giveBack(buffer: Buffer): void {
    if (buffer.length > this.#idleBytesMax) return
    this.#idleOf(buffer.length).push(buffer)
    this.#idleBytes += buffer.length
    // Sizes that nobody asks for any more would leave no room for those that are.
    for (const [size, idle] of this.#idle) {
      for (; this.#idleBytes > this.#idleBytesMax && idle.length > 0; this.#idleBytes -= size) idle.pop()
      if (this.#idleBytes <= this.#idleBytesMax) return
      this.#idle.delete(size)
    }
  }

  /** The size is the one used last, then. */
  #idleOf(size: number): Buffer[] {
    const idle = this.#idle.get(size) ?? []
    this.#idle.delete(size)
    this.#idle.set(size, idle)
    return idle
  }
}
