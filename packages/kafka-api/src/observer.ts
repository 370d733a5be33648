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
  /** Closed at once: there are as many as may be. */
  connectionRefused(): void
  /**
   * `latencyMs` runs from the start of the request to the moment its answer is handed to the socket. A request without an answer
   * (Produce with acks=0) counts when it is done, with 0 bytes.
   */
  requestAnswered(apiName: string, apiVersion: number, latencyMs: number, answerBytes: number): void
  /** An error in an answer, by Kafka's name for it; once for each partition, group or topic that has it, as a Kafka broker counts. */
  errorAnswered(apiName: string, errorName: string): void
}

export const silentObserver: KafkaObserver = {
  connectionOpened() {},
  connectionClosed() {},
  connectionRefused() {},
  requestAnswered() {},
  errorAnswered() {},
}
