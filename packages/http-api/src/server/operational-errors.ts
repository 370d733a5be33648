import { HttpError, unavailable } from './http-error.ts'
import type { Logger } from './surroundings.ts'

/** Failures of the layers below that are nobody's bug (see their `errors.ts`), by their code: what the client is told. */
const passing: Readonly<Record<string, string>> = {
  PICO_LOG_APPEND_FAILED: 'the records could not be made durable',
  PICO_LOG_READ_FAILED: 'the records could not be read from storage',
  PICO_LOG_CLOSED: 'the server is going down',
  PICO_STREAMS_PARTITION_GONE: 'the stream is being moved or deleted',
  PICO_STREAMS_ELSEWHERE: 'another node has the stream and did not let go of it in time',
  PICO_METADATA_STREAM_NOT_OWNED: 'the stream has been moved to another node',
  PICO_METADATA_UNAVAILABLE: 'the metadata database does not answer',
  PICO_SCHEMA_UNAVAILABLE: 'the schema of the stream cannot be had for the moment',
  PICO_METADATA_FENCED: 'another node has taken over',
  PICO_HTTP_DAMAGED_RECORDS: 'the records could not be read',
}

/** Worth a line for the operator: the others are a matter of course when nodes come and go. */
const warned: ReadonlySet<string> = new Set([
  'PICO_LOG_APPEND_FAILED',
  'PICO_LOG_READ_FAILED',
  'PICO_METADATA_UNAVAILABLE',
  'PICO_SCHEMA_UNAVAILABLE',
  'PICO_HTTP_DAMAGED_RECORDS',
])

/** What was appended may be found after all: by the next run of a log that dies now, or by the node that takes over. */
const uncertain: ReadonlySet<string> = new Set(['PICO_LOG_APPEND_FAILED', 'PICO_METADATA_FENCED'])

/** What the client is told of a failure, whatever it was. Logs it where somebody has to look at something. */
export function httpErrorOf(error: unknown, log: Logger, what: object): HttpError {
  if (error instanceof HttpError) return error
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (Object.hasOwn(passing, code)) {
    if (warned.has(code)) log.warn({ ...what, err: error }, 'an HTTP request failed')
    const message = passing[code] ?? code
    // An append that is not idempotent must not be told to come again, as `Retry-After` does.
    return uncertain.has(code) ? new HttpError('unavailable', message) : unavailable(message)
  }
  log.error({ ...what, err: error }, 'an HTTP request failed because of a bug')
  return new HttpError('internal', 'something went wrong in the server')
}
