import { kafkaErrors } from '@pico/kafka-codec'
import { retriableErrorCode } from './operational-errors.ts'

/**
 * What a lookup of offsets says of a failure: a deadline that passed, or a cancellation, is REQUEST_TIMED_OUT, anything else
 * UNKNOWN_SERVER_ERROR. That another node leads is no failure: the client goes there.
 */
export function lookupErrorCode(error: unknown): number {
  const moved = kafkaErrors.notLeaderOrFollower.code
  if (retriableErrorCode(error, 'read') === moved) return moved
  return isOutOfTime(error) ? kafkaErrors.requestTimedOut.code : kafkaErrors.unknownServerError.code
}

/** Names and codes that Node, its drivers and the web's AbortSignal give to what took too long or was called off. */
const outOfTime: ReadonlySet<string> = new Set(['AbortError', 'TimeoutError', 'ABORT_ERR', 'ETIMEDOUT', 'SQLITE_BUSY'])
/** Causes of causes: a chain that goes round must end. */
const depthMax = 8

function isOutOfTime(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > depthMax) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return outOfTime.has(error.name) || outOfTime.has(code) || isOutOfTime(error.cause, depth + 1)
}
