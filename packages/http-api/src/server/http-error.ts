import { type ErrorBody, type ErrorCode, errorStatuses } from '@pico/http-contract'
import { type Judgement, type RecordProblem, schemaProblemText } from '@pico/streams'

/** What an error says besides of a schema, for programs. */
export type ErrorDetails = Pick<ErrorBody, 'reasons' | 'topics'>

/** A request that is answered with an error: what the client is told, and nothing else. */
export class HttpError extends Error {
  readonly code: ErrorCode
  /** Header names and values in turn. */
  readonly headers: readonly string[]
  readonly nextSeq: number | undefined
  readonly problems: readonly RecordProblem[] | undefined
  readonly details: ErrorDetails
  readonly #status: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      readonly headers?: readonly string[]
      readonly nextSeq?: number
      readonly status?: number
      readonly problems?: readonly RecordProblem[]
      readonly details?: ErrorDetails
    } = {},
  ) {
    super(message)
    this.name = 'HttpError'
    this.code = code
    this.headers = more.headers ?? []
    this.nextSeq = more.nextSeq
    this.problems = more.problems
    this.details = more.details ?? {}
    this.#status = more.status
  }

  get status(): number {
    return this.#status ?? errorStatuses[this.code]
  }

  get body(): ErrorBody {
    const { code, message, nextSeq, problems, details } = this
    return {
      error: code,
      message,
      ...(nextSeq !== undefined && { next_seq: nextSeq }),
      ...(problems !== undefined && { problems: [...problems] }),
      ...details,
    }
  }
}

export function badRequest(message: string): HttpError {
  return new HttpError('bad_request', message)
}

/** Records that are not as their schema wants them. */
export function breaksSchema(judgement: Judgement): HttpError {
  return new HttpError('invalid_record', schemaProblemText(judgement), { problems: judgement.problems })
}

/** Something that time may cure. */
export function unavailable(message: string, retryAfterSeconds = 1): HttpError {
  return new HttpError('unavailable', message, { headers: ['Retry-After', String(retryAfterSeconds)] })
}
