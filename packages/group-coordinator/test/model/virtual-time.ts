interface Due {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
}

/** Runs what is due in the order of time, and what is due at once in the order it was asked for. */
export class VirtualTime {
  nowMs = 1_000_000
  #order = 0
  /** A binary heap. */
  readonly #heap: Due[] = []

  after(delayMs: number, run: () => void): void {
    this.at(this.nowMs + delayMs, run)
  }

  at(atMs: number, run: () => void): void {
    const heap = this.#heap
    let at = heap.push({ atMs: Math.max(atMs, this.nowMs), order: this.#order++, run }) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(at, parent)) break
      this.#swap(at, parent)
      at = parent
    }
  }

  /** False when nothing is left to do until `endMs`; then the time is `endMs`. */
  runNext(endMs: number): boolean {
    const next = this.#heap[0]
    if (next === undefined || next.atMs > endMs) {
      this.nowMs = endMs
      return false
    }
    this.#dropFirst()
    this.nowMs = next.atMs
    next.run()
    return true
  }

  #dropFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    let at = 0
    for (;;) {
      let first = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && this.#isBefore(child, first)) first = child
      }
      if (first === at) return
      this.#swap(at, first)
      at = first
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (one === undefined || other === undefined) return false
    return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (one === undefined || other === undefined) return
    this.#heap[a] = other
    this.#heap[b] = one
  }
}
