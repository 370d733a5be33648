/**
 * Values that are costly to load and never change: each is loaded once, whoever waits for it, and kept until others need the room. What
 * could not be loaded is tried again by the next who asks.
 */
export class BoundedLoads<T> {
  readonly #bytesMax: number
  readonly #bytesOf: (value: T) => number
  /** Least recently used first. */
  readonly #loads = new Map<string, { readonly promise: Promise<T>; bytes: number }>()
  #bytes = 0

  constructor(bytesMax: number, bytesOf: (value: T) => number) {
    this.#bytesMax = bytesMax
    this.#bytesOf = bytesOf
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#loads.get(key)
    if (known !== undefined) {
      this.#loads.delete(key)
      this.#loads.set(key, known)
      return known.promise
    }
    const entry = { promise: load(), bytes: 0 }
    this.#loads.set(key, entry)
    entry.promise.then(
      (value) => {
        entry.bytes = this.#bytesOf(value)
        this.#bytes += entry.bytes
        this.#makeRoom()
      },
      () => this.#loads.delete(key), // whoever waits is told
    )
    return entry.promise
  }

  /** Of what is loaded, the least recently used goes; the last one stays, however large it is. */
  #makeRoom(): void {
    for (const [key, { bytes }] of this.#loads) {
      if (this.#bytes <= this.#bytesMax || this.#bytes === bytes) return
      if (bytes === 0) continue
      this.#loads.delete(key)
      this.#bytes -= bytes
    }
  }
}
