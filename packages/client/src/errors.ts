import type { ErrorCode, SchemaReason } from '@pico/http-contract'

/** What the server answered, by its own code, or what kept an answer from coming. */
export type PicoErrorCode =
  | ErrorCode
  /** No connection: nothing was sent. */
  | 'unreachable'
  /** The connection broke, or an answer was cut short. */
  | 'connection_lost'
  | 'timed_out'
  /** Redirected in a circle, or to nowhere. */
  | 'redirect_loop'
  /** An answer that this client does not understand. */
  | 'bad_response'
  /** The client or the producer was closed before. */
  | 'client_closed'

export interface PicoErrorFacts {
  /** Null when no answer came. */
  readonly status?: number | null
  /** The tail, where the server said it. */
  readonly nextSeq?: number | null
  /** The first record kept, of 'out_of_range'. */
  readonly startSeq?: number | null
  /** What a producer has to send next, of 'sequence_gap'. */
  readonly expectedSeq?: number | null
  readonly written?: 'no' | 'maybe'
  readonly retriable?: boolean
  readonly retryAfterMs?: number | null
  /** Of 'invalid_schema' and 'incompatible'. */
  readonly reasons?: readonly SchemaReason[]
  readonly cause?: unknown
}

/** Every failure of a call but an abort, which rejects with the signal's reason. */
export class PicoError extends Error {
  override readonly name = 'PicoError'
  readonly code: PicoErrorCode
  readonly status: number | null
  readonly nextSeq: number | null
  readonly startSeq: number | null
  readonly expectedSeq: number | null
  /** 'maybe': the request was sent, and nothing tells whether the server carried it out. */
  readonly written: 'no' | 'maybe'
  /** The same request may succeed later. */
  readonly retriable: boolean
  readonly retryAfterMs: number | null
  /** What is wrong with a schema: of 'invalid_schema' and 'incompatible'; else empty. */
  readonly reasons: readonly SchemaReason[]

  constructor(code: PicoErrorCode, message: string, facts: PicoErrorFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause })
    this.code = code
    this.status = facts.status ?? null
    this.nextSeq = facts.nextSeq ?? null
    this.startSeq = facts.startSeq ?? null
    this.expectedSeq = facts.expectedSeq ?? null
    this.written = facts.written ?? 'no'
    this.retriable = facts.retriable ?? false
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.reasons = facts.reasons ?? []
  }
}
