/** Memory for frames that arrive in pieces, used again: garbage of this size would keep the collector busy. Shared by a listener. */
export class FrameMemory {
  readonly #idleBytesMax: number
  readonly #idle = new Map<number, Buffer[]>()
  #idleBytes = 0

  /** `idleBytesMax`: most that is kept while nobody uses it. */
  constructor(idleBytesMax = 16 * 1024 * 1024) {
    this.#idleBytesMax = idleBytesMax
  }

  /** At least so many bytes, of unknown content. */
  take(bytes: number): Buffer {
    const size = sizeClass(bytes)
    const idle = this.#idle.get(size)?.pop()
    if (idle === undefined) return Buffer.allocUnsafeSlow(size)
    this.#idleBytes -= size
    return idle
  }

  /** What `take` gave, when nobody looks at it any more. */
  giveBack(buffer: Buffer): void {
    if (this.#idleBytes + buffer.length > this.#idleBytesMax) return
    this.#idleBytes += buffer.length
    const idle = this.#idle.get(buffer.length)
    if (idle === undefined) this.#idle.set(buffer.length, [buffer])
    else idle.push(buffer)
  }
}

const smallest = 16 * 1024

/** Powers of two: a buffer fits many frames. */
function sizeClass(bytes: number): number {
  return Math.max(smallest, 2 ** Math.ceil(Math.log2(bytes)))
}
