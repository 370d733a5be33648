/** Time, injected: the part of the engine's clock that requests need. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** Calls back once after `delayMs`; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void
}
