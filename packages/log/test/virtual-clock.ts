import type { Clock } from '../src/index.ts'

/** Time that passes only when told to: the same calls in the same order, however fast the machine. */
export class VirtualClock implements Clock {
  #nowMs = 1_800_000_000_000
  #timers: { dueMs: number; order: number; callback: () => void }[] = []
  #order = 0
  #soon: (() => void)[] = []

  nowMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): () => void {
    this.#order += 1
    const timer = { dueMs: this.#nowMs + delayMs, order: this.#order, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  soon(callback: () => void): void {
    this.#soon.push(callback)
  }

  /** Lets everything run that needs no time to pass. */
  async settle(): Promise<void> {
    do {
      const due = this.#soon
      this.#soon = []
      for (const callback of due) callback()
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.#soon.length > 0)
  }

  /** Passes time, timer by timer. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await this.settle()
    for (;;) {
      const next = this.#timers
        .filter((timer) => timer.dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#nowMs = next.dueMs
      next.callback()
      await this.settle()
    }
    this.#nowMs = untilMs
  }

  /** A process died: its timers go with it. */
  reset(): void {
    this.#timers = []
    this.#soon = []
  }
}
