abstract class LogError extends Error {
  abstract readonly code: string
}

/** The flush an entry was in failed: the entry does not exist, and may be appended again. */
export class AppendFailedError extends LogError {
  readonly code = 'PICO_LOG_APPEND_FAILED'
  constructor(reason: string, options?: { cause: unknown }) {
    super(`append failed: ${reason}`, options)
    this.name = 'AppendFailedError'
  }
}

/** The log is closed, or closing. */
export class LogClosedError extends LogError {
  readonly code = 'PICO_LOG_CLOSED'
  constructor() {
    super('the log is closed')
    this.name = 'LogClosedError'
  }
}

/** Committed entries could not be read: the store did not answer, or an object is damaged. */
export class ReadFailedError extends LogError {
  readonly code = 'PICO_LOG_READ_FAILED'
  constructor(streamId: number, offset: number, options: { cause: unknown }) {
    super(
      `stream ${streamId} could not be read at offset ${offset}: ${options.cause instanceof Error ? options.cause.message : String(options.cause)}`,
      options,
    )
    this.name = 'ReadFailedError'
  }
}
