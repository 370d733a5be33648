export interface DurableStreamsSettings {
  /** A stream that another node has: send the client there, or say `not_owner`. */
  readonly routing: 'redirect' | 'local'
  readonly longPollTimeoutMs: number
  readonly sseMaxDurationMs: number
  /** How long a connection may be silent before it gets a comment. */
  readonly sseKeepAliveMs: number
  /** What is read for one response, or one event: whole batches, at least one. */
  readonly catchUpBytes: number
  readonly eventBytes: number
}

export const defaultDurableStreamsSettings: DurableStreamsSettings = {
  routing: 'redirect',
  longPollTimeoutMs: 25_000,
  sseMaxDurationMs: 55_000,
  sseKeepAliveMs: 15_000,
  catchUpBytes: 1024 * 1024,
  eventBytes: 256 * 1024,
}
