import {
  defaultHttpSettings,
  type HttpListener,
  listenHttp,
  listenSchemaRegistry,
  type ServerMetrics,
} from '@pico/http-api'
import { systemClock } from '@pico/log'
import type { SchemaRegistry } from '@pico/schema-registry'
import type { Streams } from '@pico/streams'
import type { Logger } from 'pino'
import type { HostPort } from './host-port.ts'
import type { HttpConfig, HttpListenerConfig } from './http-config.ts'
import { listening } from './startup-problems.ts'

export interface HttpParts {
  readonly streams: Streams
  readonly schemas: SchemaRegistry
  readonly metrics: ServerMetrics
  readonly log: Logger
}

/** Serves streams over HTTP, in the protocol of that listener. @throws StartupError */
export function openHttp(
  { flag, listen, protocol }: HttpListenerConfig,
  { routing, corsOrigins, longPollTimeoutMs, sseMaxDurationMs }: HttpConfig,
  { streams, schemas, metrics, log }: HttpParts,
): Promise<HttpListener> {
  const observer = metrics.http(protocol)
  const settings = { ...listen, protocol, routing, corsOrigins, longPollTimeoutMs, sseMaxDurationMs }
  return listening(flag, listen, () =>
    listenHttp(
      { streams, schemas, registry: schemas, clock: systemClock, log, observer },
      { ...defaultHttpSettings, ...settings },
    ),
  )
}

/** Serves named schemas in Confluent's REST protocol. @throws StartupError */
export function openSchemaRegistryListener(
  { listen }: { readonly listen: HostPort },
  { corsOrigins }: HttpConfig,
  { schemas: registry, metrics, log }: Pick<HttpParts, 'schemas' | 'metrics' | 'log'>,
): Promise<HttpListener> {
  const observer = metrics.http('schema-registry')
  return listening('schema-registry-listen', listen, () =>
    listenSchemaRegistry({ registry, clock: systemClock, log, observer }, { ...listen, corsOrigins }),
  )
}
