/** Time, injected: the part of the engine's clock that requests need. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** Calls back once after `delayMs`; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void
}

/** Where log lines go. A pino logger is one. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
