/** Something that is known until a time comes. */
export interface Expiring {
  readonly expiresAtMs: number
}

/**
 * What a stream remembers of those who write to it, as of the last durable append. Least recently changed first, which makes forgetting
 * cheap: past `sizeMax` whoever has been silent for longest is forgotten, which is what expiry would do to it later.
 */
export class ExpiringTable<K, S extends Expiring> {
  /** Null while there is nothing: most streams have no idempotent producers. */
  #states: Map<K, S> | null = null
  readonly #sizeMax: number

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get size(): number {
    return this.#states?.size ?? 0
  }

  get(key: K, nowMs: number): S | undefined {
    const state = this.#states?.get(key)
    return state !== undefined && nowMs < state.expiresAtMs ? state : undefined
  }

  set(key: K, state: S): void {
    this.#states ??= new Map()
    this.#states.delete(key)
    this.#states.set(key, state)
    if (this.#states.size > this.#sizeMax) this.#forgetOldest(this.#states)
  }

  /** Drops those that have expired, oldest first, up to the first that has not. */
  forgetExpired(nowMs: number): void {
    if (this.#states === null) return
    for (const [key, state] of this.#states) {
      if (nowMs < state.expiresAtMs) return
      this.#states.delete(key)
    }
  }

  entries(): IterableIterator<[K, S]> {
    return (this.#states ?? new Map<K, S>()).entries()
  }

  #forgetOldest(states: Map<K, S>): void {
    for (const key of states.keys()) {
      states.delete(key)
      return
    }
  }
}
