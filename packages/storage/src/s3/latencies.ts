const kept = 128
/** With fewer nothing can be said about the slowest twentieth. */
const leastKnown = 20
const percentile = 0.95
/** How slow a first GET is before anything is known: about what the slowest hundredth of AWS takes. */
const unknownMs = 500

/** How long GETs took lately, apart by size: powers of two. */
export class Latencies {
  readonly #bySize = new Map<number, { recentMs: number[]; next: number }>()

  add(bytes: number, tookMs: number): void {
    const size = sizeClass(bytes)
    let window = this.#bySize.get(size)
    if (window === undefined) {
      window = { recentMs: [], next: 0 }
      this.#bySize.set(size, window)
    }
    window.recentMs[window.next] = tookMs
    window.next = (window.next + 1) % kept
  }

  /** What nineteen of twenty took at most. */
  slowMs(bytes: number): number {
    const recentMs = this.#bySize.get(sizeClass(bytes))?.recentMs ?? []
    if (recentMs.length < leastKnown) return unknownMs
    const sorted = [...recentMs].sort((a, b) => a - b)
    return sorted[Math.ceil(sorted.length * percentile) - 1] ?? unknownMs
  }
}

function sizeClass(bytes: number): number {
  return Math.clz32(bytes)
}
