import { kafkaErrors } from '@pico/kafka-codec'
import type { Clock } from './clock.ts'
import type { Logger } from './observer.ts'
import { type Operation, retriableErrorCode } from './operational-errors.ts'

const quietMs = 1000

/** What a failed request was about, for the log. */
export interface Subject {
  readonly topic: string
  readonly partition: number
}

export type Explain = (error: unknown, operation: Operation, subject?: Subject) => number

/**
 * Turns what a handler caught into the error code it answers, and tells the log: a bug always, as an error; a full disk or a lost
 * database as a warning, but once a second and kind, since it fails every request that comes.
 */
export function explainer(clock: Clock, log: Logger): Explain {
  const lastWarning = new Map<string, { atMs: number; unsaid: number }>()

  return (error, operation, subject) => {
    const errorCode = retriableErrorCode(error, operation)
    if (errorCode === undefined) {
      log.error({ ...subject, err: error }, 'a Kafka request failed because of a bug')
      return kafkaErrors.unknownServerError.code
    }
    warn(error as Error, subject)
    return errorCode
  }

  function warn(error: Error, subject: Subject | undefined): void {
    const nowMs = clock.nowMs()
    const last = lastWarning.get(error.name)
    if (last !== undefined && nowMs - last.atMs < quietMs) {
      last.unsaid++
      return
    }
    log.warn(
      { ...subject, err: error, unsaid: last?.unsaid ?? 0 },
      'Kafka requests fail, and clients are told to try again',
    )
    lastWarning.set(error.name, { atMs: nowMs, unsaid: 0 })
  }
}
