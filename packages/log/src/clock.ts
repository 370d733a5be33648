/** Time, injected: a simulation runs the engine in virtual time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** Calls back once after `delayMs`; the returned function cancels. Never keeps a process alive. */
  after(delayMs: number, callback: () => void): () => void
  /** Calls back once the input that is ready now has been taken in (setImmediate): what came together is flushed together. */
  soon(callback: () => void): void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs).unref()
    return () => clearTimeout(timer)
  },
  soon(callback) {
    setImmediate(callback)
  },
}
