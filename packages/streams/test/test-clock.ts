import type { Clock } from '@pico/log'

/** The time is what the test says; input at hand is taken in as it really is. */
export class TestClock implements Clock {
  #nowMs = 1_800_000_000_000
  #timers: { readonly dueMs: number; readonly callback: () => void }[] = []

  nowMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }

  /** Moves on, and calls nobody. */
  jump(ms: number): void {
    this.#nowMs += ms
  }

  /** Moves on and calls what has become due, once. */
  pass(ms: number): void {
    this.#nowMs += ms
    const due = this.#timers.filter((timer) => timer.dueMs <= this.#nowMs)
    this.#timers = this.#timers.filter((timer) => timer.dueMs > this.#nowMs)
    for (const { callback } of due) callback()
  }
}
