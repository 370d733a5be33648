import assert from 'node:assert/strict'

/**
 * A stretch of memory that several look at: who made it, and everyone it was lent to. When the last of them lets go, it may be written
 * to again. Who never lets go costs no more than the reuse: memory that nobody can reach is collected.
 */
export class SharedMemory {
  readonly bytes: Uint8Array
  readonly #reuse: () => void
  #holders = 1

  /** Held by the caller. `reuse` is called when nobody holds it any more. */
  constructor(bytes: Uint8Array, reuse: () => void) {
    this.bytes = bytes
    this.#reuse = reuse
  }

  /** One more looks at it. To be called by one that holds it. */
  hold(): void {
    assert(this.#holders > 0, 'memory that nobody holds may be overwritten already')
    this.#holders++
  }

  /** One of them does not look at it any more. */
  release(): void {
    assert(this.#holders > 0, 'memory is released once by each that holds it')
    this.#holders--
    if (this.#holders === 0) this.#reuse()
  }
}
