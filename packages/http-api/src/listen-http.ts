import { noSchemas, type SchemaJudge, type SchemaRegistry } from '@pico/schema-registry'
import type { Streams } from '@pico/streams'
import { durableStreamsService } from './durable-streams/service.ts'
import type { HttpSettings } from './http-settings.ts'
import { picoService } from './pico/pico-service.ts'
import { SharedPages } from './pico/shared-pages.ts'
import { type HttpListener, type HttpService, openHttpServer } from './server/http-server.ts'
import { type HttpObserver, silentHttpObserver } from './server/observer.ts'
import type { Clock, Logger } from './server/surroundings.ts'

export interface HttpComponents {
  readonly streams: Streams
  /** Of the schemas that streams can be bound to; default: there are none. */
  readonly schemas?: SchemaJudge
  /** Served at /_schemas of the Pico protocol; default null: it is not. */
  readonly registry?: SchemaRegistry | null
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: HttpObserver
  /** At least 0, below 1. */
  readonly random?: () => number
}

/**
 * Serves streams over HTTP, in the protocol that the settings say: one of them a listener.
 * @throws the error of `listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND.
 */
export function listenHttp(given: HttpComponents, settings: HttpSettings): Promise<HttpListener> {
  const { streams, schemas = noSchemas, registry = null, clock, log } = given
  const { observer = silentHttpObserver, random = Math.random } = given
  const components = { clock, log, observer, room: streams }
  const service = serviceOf({ streams, schemas, registry, clock, log, observer, random }, settings)
  return openHttpServer(service, components, settings)
}

function serviceOf(
  { streams, schemas, registry, clock, log, observer, random }: Required<HttpComponents>,
  settings: HttpSettings,
): HttpService {
  const { paths } = streams
  const { routing, longPollTimeoutMs, sseMaxDurationMs, sseKeepAliveMs } = settings
  if (settings.protocol === 'pico') {
    const sharedPages = new SharedPages()
    return picoService({ paths, schemas, registry, clock, log, observer, random, settings, sharedPages })
  }
  const how = { routing, longPollTimeoutMs, sseMaxDurationMs, sseKeepAliveMs }
  return durableStreamsService({ streams: paths, schemas, clock, random, observer }, how)
}
