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

  /** With `earlyMs`, timers fire before the clock shows the time they were set for, as real ones may by a millisecond. */
  advance(ms: number, { earlyMs = 0 } = {}): void {
    this.#nowMs += ms - earlyMs
    const due = [...this.#timers]
      .filter(({ dueMs }) => dueMs <= this.#nowMs + earlyMs)
      .sort((a, b) => a.dueMs - b.dueMs)
    for (const timer of due) {
      if (this.#timers.delete(timer)) timer.callback()
    }
  }
}
