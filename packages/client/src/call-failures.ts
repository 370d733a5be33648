import { type ErrorCode, errorBodySchema, errorStatuses, type SchemaReason } from '@pico/http-contract'
import type { Dispatcher } from 'undici'
import { numberHeader } from './answer-headers.ts'
import { PicoError, type PicoErrorCode } from './errors.ts'

/** Before a connection stands: nothing of the request has left. */
const connectFailures = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** A call that got no answer, or only a part of one. */
export function failureError(cause: unknown, what: string): PicoError {
  const code = codeOf(cause)
  const message = cause instanceof Error ? cause.message : String(cause)
  if (connectFailures.has(code) || syscallOf(cause) === 'connect')
    return new PicoError('unreachable', `${what}: no connection (${code || message})`, { retriable: true, cause })
  if (timeouts.has(code))
    return new PicoError('timed_out', `${what}: no answer in time`, { retriable: true, written: 'maybe', cause })
  if (code === 'UND_ERR_INVALID_ARG') return new PicoError('bad_request', `${what}: ${message}`, { cause })
  return new PicoError('connection_lost', `${what}: the connection broke (${message})`, {
    retriable: true,
    written: 'maybe',
    cause,
  })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function syscallOf(error: unknown): string {
  return error instanceof Error && 'syscall' in error && typeof error.syscall === 'string' ? error.syscall : ''
}

/** An answer that says no, by its body and headers. */
export async function answerError(
  answer: Dispatcher.ResponseData,
  what: string,
  signal: AbortSignal | undefined,
): Promise<PicoError> {
  const { statusCode: status, headers } = answer
  const retryAfterMs = retryAfter(headers['retry-after'])
  // 429, and 503 with Retry-After, are said before anything is done. Of other failures only the server knows.
  const written = status >= 500 && !(status === 503 && retryAfterMs !== null) ? 'maybe' : 'no'
  let text: string
  try {
    text = await errorText(answer.body)
  } catch (cause) {
    signal?.throwIfAborted()
    const { message } = failureError(cause, what)
    return new PicoError('connection_lost', `${message} within status ${status}`, {
      status,
      retriable: true,
      written,
      cause,
    })
  }
  const body = String(headers['content-type']).startsWith('application/json') ? parsedErrorBody(text) : {}
  const code = body.code ?? codeOfStatus(status, headers)
  // An answer to HEAD has no body to say it.
  const message = body.message ?? (code === 'not_found' ? 'there is no such stream' : `status ${status}`)
  return new PicoError(code, `${what}: ${message}`, {
    status,
    reasons: body.reasons ?? [],
    nextSeq: body.nextSeq ?? numberHeader(headers, 'pico-next-seq'),
    startSeq: numberHeader(headers, 'pico-start-seq'),
    expectedSeq: numberHeader(headers, 'pico-expected-seq') ?? numberHeader(headers, 'producer-expected-seq'),
    retriable: status === 429 || status >= 500,
    written,
    retryAfterMs,
  })
}

const errorBodyCharactersMax = 64 * 1024

/** The beginning of it: a proxy's page may be long. */
async function errorText(body: Dispatcher.ResponseData['body']): Promise<string> {
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) {
    text += chunk
    if (text.length > errorBodyCharactersMax) break
  }
  return text
}

interface ErrorBody {
  readonly code?: PicoErrorCode
  readonly message?: string
  readonly nextSeq?: number
  readonly reasons?: readonly SchemaReason[]
}

function parsedErrorBody(text: string): ErrorBody {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return {} // a proxy's page, say: the status tells
  }
  if (typeof parsed !== 'object' || parsed === null) return {}
  const { error, message, next_seq: nextSeq, reasons } = parsed as Record<string, unknown>
  const told = errorBodySchema.shape.reasons.safeParse(reasons)
  return {
    ...(typeof error === 'string' && error in errorStatuses ? { code: error as ErrorCode } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof nextSeq === 'number' ? { nextSeq } : {}),
    ...(told.data === undefined ? {} : { reasons: told.data }),
  }
}

/** For answers without our JSON: those of other servers, and to HEAD. */
function codeOfStatus(status: number, headers: Dispatcher.ResponseData['headers']): PicoErrorCode {
  if (status === 403 && headers['producer-epoch'] !== undefined) return 'fenced'
  if (status === 409) {
    if (String(headers['stream-closed']).toLowerCase() === 'true') return 'closed'
    if ((headers['producer-expected-seq'] ?? headers['pico-expected-seq']) !== undefined) return 'sequence_gap'
    return 'conflict'
  }
  if (status === 403) return 'forbidden'
  if (status === 429) return 'unavailable'
  const known = Object.entries(errorStatuses).find(([, known]) => known === status)?.[0]
  if (known !== undefined) return known as ErrorCode
  return status >= 500 ? 'unavailable' : 'bad_response'
}

/** Seconds, or an HTTP date (RFC 9110 section 10.2.3). */
function retryAfter(header: string | string[] | undefined): number | null {
  const text = String(header ?? '')
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}
