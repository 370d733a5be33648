import type { Attempt } from './attempts.ts'
import type { ContentKind } from './cross-record.ts'

/** A stream under test, under each of its names. */
export interface CrossStream {
  readonly kind: ContentKind
  /** The path as it goes over the wire. */
  readonly path: string
  /** Null when Kafka cannot know it. */
  readonly topic: string | null
  readonly attempts: Attempt[]
}

/** Where the three are served. */
export interface Doors {
  readonly kafkaPort: number
  readonly picoUrl: string
  readonly dsUrl: string
}
