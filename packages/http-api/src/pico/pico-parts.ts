import type { SchemaJudge, SchemaRegistry } from '@pico/schema-registry'
import type { PathStreams } from '@pico/streams'
import type { HttpSettings } from '../http-settings.ts'
import type { HttpObserver } from '../server/observer.ts'
import type { Clock, Logger } from '../server/surroundings.ts'
import type { SharedPages } from './shared-pages.ts'

/** What the routes work with. */
export interface PicoParts {
  readonly paths: PathStreams
  readonly schemas: SchemaJudge
  /** Null where there is none: /_schemas is then a path like others. */
  readonly registry: SchemaRegistry | null
  readonly clock: Clock
  readonly log: Logger
  readonly observer: HttpObserver
  readonly settings: HttpSettings
  /** At least 0, below 1. */
  readonly random: () => number
  readonly sharedPages: SharedPages
}
