import type { Clock } from '@pico/log'

/** Time that moves only when a test says so. What is due `soon` runs by itself, as in a real event loop. */
export class TestClock implements Clock {
  #nowMs = 1_700_000_000_000
  readonly #timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>()

  nowMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }

  /** How many callbacks are waiting for their time. */
  get pending(): number {
    return this.#timers.size
  }

  advance(ms: number): void {
    this.#nowMs += ms
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs).sort((a, b) => a.dueMs - b.dueMs)
    for (const timer of due) {
      if (this.#timers.delete(timer)) timer.callback()
    }
  }
}
