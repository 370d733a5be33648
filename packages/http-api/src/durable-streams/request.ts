import type { SchemaJudge } from '@pico/schema-registry'
import type { PathStreams } from '@pico/streams'
import type { HttpObserver } from '../server/observer.ts'
import type { Clock } from '../server/surroundings.ts'
import type { KnownJson } from './known-json.ts'
import type { DurableStreamsSettings } from './settings.ts'
import type { SharedChunks } from './shared-chunks.ts'

/** A request, as far as the protocol looks at it. */
export interface DurableRequest {
  /** The stream's name: the path, decoded. */
  readonly name: string
  /** Of this request, absolute and as the client wrote it, without query. */
  readonly url: string
  /** By its name in lower case. */
  header(name: string): string | undefined
  readonly query: URLSearchParams
  readonly body: Buffer
  /**
   * Calls back when nobody waits for the answer any more, or the server begins to go down: whoever waits for records is answered then. Not
   * after the returned function was called. At once when it is so already.
   */
  whenOver(callback: () => void): () => void
}

export interface DurableStreamsComponents {
  readonly streams: PathStreams
  readonly schemas: SchemaJudge
  readonly clock: Clock
  readonly observer: HttpObserver
  /** At least 0, below 1. */
  readonly random: () => number
}

export interface DurableStreamsParts extends DurableStreamsComponents {
  readonly knownJson: KnownJson
  readonly sharedChunks: SharedChunks
  readonly settings: DurableStreamsSettings
}
