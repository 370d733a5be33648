import { kafkaErrors } from '@pico/kafka-codec'

/** What was being done when a lower layer failed: the error that every client retries differs. */
export type Operation = 'append' | 'read' | 'manage' | 'coordinate'

/** The stream is not here any more, or soon will not be. */
const elsewhere: Readonly<Record<Operation, number>> = {
  append: kafkaErrors.notLeaderOrFollower.code,
  read: kafkaErrors.notLeaderOrFollower.code,
  manage: kafkaErrors.requestTimedOut.code,
  coordinate: kafkaErrors.notCoordinator.code,
}

/**
 * Failures of the layers below that are nobody's bug (see their `errors.ts`), by their code, as the Kafka error that clients retry.
 * A failed append is NOT_ENOUGH_REPLICAS_AFTER_APPEND, "written but not safe, try again", and one that was not begun
 * NOT_ENOUGH_REPLICAS: KAFKA_STORAGE_ERROR, the other candidate, is final for sarama's producer.
 */
const retriable: Readonly<Record<string, Readonly<Record<Operation, number>>>> = {
  PICO_LOG_APPEND_FAILED: {
    append: kafkaErrors.notEnoughReplicasAfterAppend.code,
    read: kafkaErrors.kafkaStorageError.code,
    manage: kafkaErrors.requestTimedOut.code,
    coordinate: kafkaErrors.coordinatorNotAvailable.code,
  },
  PICO_LOG_READ_FAILED: {
    append: kafkaErrors.notEnoughReplicas.code,
    read: kafkaErrors.kafkaStorageError.code,
    manage: kafkaErrors.requestTimedOut.code,
    coordinate: kafkaErrors.coordinatorNotAvailable.code,
  },
  PICO_LOG_CLOSED: elsewhere,
  PICO_STREAMS_PARTITION_GONE: elsewhere,
  PICO_STREAMS_ELSEWHERE: elsewhere,
  PICO_METADATA_STREAM_NOT_OWNED: elsewhere,
  PICO_METADATA_UNAVAILABLE: {
    append: kafkaErrors.notEnoughReplicas.code,
    read: kafkaErrors.kafkaStorageError.code,
    manage: kafkaErrors.requestTimedOut.code,
    coordinate: kafkaErrors.coordinatorNotAvailable.code,
  },
  /** Nobody knows whether the records are good: nothing was written. */
  PICO_SCHEMA_UNAVAILABLE: {
    append: kafkaErrors.notEnoughReplicas.code,
    read: kafkaErrors.kafkaStorageError.code,
    manage: kafkaErrors.requestTimedOut.code,
    coordinate: kafkaErrors.coordinatorNotAvailable.code,
  },
  PICO_METADATA_FENCED: {
    append: kafkaErrors.notLeaderOrFollower.code,
    read: kafkaErrors.notLeaderOrFollower.code,
    manage: kafkaErrors.notController.code,
    coordinate: kafkaErrors.notCoordinator.code,
  },
}

/** The error code for a failure that a retry may cure, or undefined: then it is a bug of ours. */
export function retriableErrorCode(error: unknown, operation: Operation): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return Object.hasOwn(retriable, error.code) ? retriable[error.code]?.[operation] : undefined
}
