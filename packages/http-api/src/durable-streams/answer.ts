import type { ErrorCode } from '@pico/http-contract'
import { type Judgement, type NotOwner, type RecordProblem, type StreamMiss, schemaProblemText } from '@pico/streams'
import type { Following } from './event-feed.ts'
import type { Problem } from './problem.ts'

export type AnswerHeaders = Readonly<Record<string, string>>

/** What a request comes to; how it goes out is the route's business (routes.ts). */
export type Answer = Done | Events | Refusal | NotOwner

export interface Done {
  readonly kind: 'done'
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Uint8Array | null
}

/** A connection that events are sent over. */
export interface Events {
  readonly kind: 'events'
  readonly headers: AnswerHeaders
  readonly following: Following
}

export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly message: string
  readonly headers: AnswerHeaders
  /** In place of the code's own: a protocol may know a finer one. */
  readonly status?: number
  readonly problems?: readonly RecordProblem[]
}

export function done(status: number, headers: AnswerHeaders, body: Done['body'] = null): Done {
  return { kind: 'done', status, headers, body }
}

export function refused(code: ErrorCode, message: string, headers: AnswerHeaders = {}): Refusal {
  return { kind: 'refused', code, message, headers }
}

export function badRequest(problem: Problem): Refusal {
  return refused('bad_request', problem.message)
}

/** Messages that are not as the stream's schema wants them. */
export function breaksSchema(judgement: Judgement): Refusal {
  return { ...refused('invalid_record', schemaProblemText(judgement)), problems: judgement.problems }
}

/** Deleted streams are 410 while forks still read what they hold. */
export function missed(miss: StreamMiss): Answer {
  if (miss === 'missing') return refused('not_found', 'there is no such stream')
  if (miss === 'gone') {
    return { ...refused('not_found', 'the stream was deleted, and its forks live on'), status: 410 }
  }
  return miss
}
