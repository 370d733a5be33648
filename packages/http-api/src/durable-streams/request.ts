import type { PathStreams } from '@pico/streams'
import type { Clock } from '../server/surroundings.ts'
import type { KnownJson } from './known-json.ts'

/** A request, as far as the protocol looks at it. */
export interface DurableRequest {
  /** The stream's name: the path, decoded. */
  readonly name: string
  /** Of this request, absolute and as the client wrote it, without query. */
  readonly url: string
  header(name: string): string | undefined
  readonly query: URLSearchParams
  readonly body: Buffer
  /** Aborts when the client is gone, or the server is about to be. */
  readonly signal: AbortSignal
}

export interface DurableStreamsSettings {
  readonly longPollTimeoutMs: number
  readonly sseMaxDurationMs: number
  readonly sseKeepAliveMs: number
  /** What is read for one response or event: whole batches, at least one. */
  readonly catchUpBytes: number
  readonly eventBytes: number
}

export const defaultDurableStreamsSettings: DurableStreamsSettings = {
  longPollTimeoutMs: 25_000,
  sseMaxDurationMs: 55_000,
  sseKeepAliveMs: 15_000,
  catchUpBytes: 1024 * 1024,
  eventBytes: 256 * 1024,
}

export interface DurableStreamsParts {
  readonly streams: PathStreams
  readonly clock: Clock
  readonly random: () => number
  readonly knownJson: KnownJson
  readonly settings: DurableStreamsSettings
}
