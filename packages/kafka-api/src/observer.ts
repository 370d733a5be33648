/** Where log lines go. A pino logger is one. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Told what happens, for metrics. Called on the request path: cheap, and never throwing. */
export interface KafkaObserver {
  connectionOpened(): void
  connectionClosed(): void
  /** `latencyMs` runs from the start of the request to the moment its answer is handed to the socket. */
  requestAnswered(apiName: string, apiVersion: number, latencyMs: number, answerBytes: number): void
}

export const silentObserver: KafkaObserver = {
  connectionOpened() {},
  connectionClosed() {},
  requestAnswered() {},
}
