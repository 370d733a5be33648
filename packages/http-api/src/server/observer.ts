/** What kind of request: one of a few, never the name of a stream, since every one becomes a metric of its own. */
export type HttpRoute = 'create' | 'append' | 'read' | 'head' | 'delete' | 'list' | 'schema' | 'preflight' | 'other'

/** How a reader waits at the tail. */
export type LiveKind = 'long-poll' | 'sse'

/** Told what happens on a listener for streams, for metrics. Called on the request path: cheap, and never throwing. */
export interface HttpObserver {
  connectionOpened(): void
  connectionClosed(): void
  /** `latencyMs` runs from the head of the request to the end of its answer; of a live read, to where it began to wait. */
  requestAnswered(route: HttpRoute, statusCode: number, latencyMs: number): void
  /** A reader begins, or ends, to wait at the tail or to be fed by events. */
  liveReaderOpened(kind: LiveKind): void
  liveReaderClosed(kind: LiveKind): void
}

export const silentHttpObserver: HttpObserver = {
  connectionOpened() {},
  connectionClosed() {},
  requestAnswered() {},
  liveReaderOpened() {},
  liveReaderClosed() {},
}
