import type { CrossRecord } from './cross-record.ts'

/** One request to append, and what its writer knows of it. */
export interface Attempt {
  /** For messages: who, how, and which. */
  readonly what: string
  readonly records: readonly CrossRecord[]
  /** HTTP's timestamps never go back, Kafka's are the client's. */
  readonly raisesTimestamps: boolean
  /** The server's time when it was sent, and answered: both of this machine. */
  readonly sentMs: number
  answeredMs: number
  outcome: Outcome
}

export type Outcome =
  /** Acknowledged; `baseOffset` null where the answer does not say (a repetition that is remembered, but not its place). */
  | { readonly kind: 'kept'; readonly baseOffset: number | null }
  /** Refused with an answer that promises that nothing was written. */
  | { readonly kind: 'refused' }
  /** No answer came. */
  | { readonly kind: 'unknown' }
