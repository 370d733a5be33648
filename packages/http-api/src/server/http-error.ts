import { type ErrorBody, type ErrorCode, errorStatuses } from '@pico/http-contract'

/** A request that is answered with an error: what the client is told, and nothing else. */
export class HttpError extends Error {
  readonly code: ErrorCode
  /** Header names and values in turn. */
  readonly headers: readonly string[]
  readonly nextSeq: number | undefined
  readonly #status: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: { readonly headers?: readonly string[]; readonly nextSeq?: number; readonly status?: number } = {},
  ) {
    super(message)
    this.name = 'HttpError'
    this.code = code
    this.headers = more.headers ?? []
    this.nextSeq = more.nextSeq
    this.#status = more.status
  }

  get status(): number {
    return this.#status ?? errorStatuses[this.code]
  }

  get body(): ErrorBody {
    const { code, message, nextSeq } = this
    return { error: code, message, ...(nextSeq === undefined ? {} : { next_seq: nextSeq }) }
  }
}

export function badRequest(message: string): HttpError {
  return new HttpError('bad_request', message)
}

/** Something that time may cure. */
export function unavailable(message: string, retryAfterSeconds = 1): HttpError {
  return new HttpError('unavailable', message, { headers: ['Retry-After', String(retryAfterSeconds)] })
}
