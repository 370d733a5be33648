abstract class StreamsError extends Error {
  abstract readonly code: string
}

/** Stored bytes about producers that this version cannot read: damaged, or written by a later version. */
export class ProducerStateUnreadableError extends StreamsError {
  readonly code = 'PICO_STREAMS_PRODUCER_STATE_UNREADABLE'
  constructor(what: string, options?: { cause: unknown }) {
    super(`producer state is unreadable: ${what}`, options)
    this.name = 'ProducerStateUnreadableError'
  }
}

/** Settings given to openStreams that no topic may have. */
export class InvalidDefaultsError extends StreamsError {
  readonly code = 'PICO_STREAMS_INVALID_DEFAULTS'
  constructor(problem: string) {
    super(`default topic settings: ${problem}`)
    this.name = 'InvalidDefaultsError'
  }
}

/** The partition was deleted, or this node does not serve it any more: look it up again. */
export class PartitionGoneError extends StreamsError {
  readonly code = 'PICO_STREAMS_PARTITION_GONE'
  /** `suspended` while nobody knows whether it was deleted; `dropped` from memory because it was idle. */
  constructor(topic: string, partition: number, state: string, options?: { cause: unknown }) {
    super(`partition ${topic}-${partition} is not served: ${state}`, options)
    this.name = 'PartitionGoneError'
  }
}

/** Another node has a stream that has to be here, and did not let go of it in time: try again. */
export class StreamsElsewhereError extends StreamsError {
  readonly code = 'PICO_STREAMS_ELSEWHERE'
  constructor(streamName: string) {
    super(`another node has stream ${streamName}, and did not let go of it in time`)
    this.name = 'StreamsElsewhereError'
  }
}
