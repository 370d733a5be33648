import { defaultHttpSettings, type HttpListener, listenHttp, type ServerMetrics } from '@pico/http-api'
import { systemClock } from '@pico/log'
import type { Streams } from '@pico/streams'
import type { Logger } from 'pino'
import type { HttpConfig, HttpListenerConfig } from './http-config.ts'
import { listening } from './startup-problems.ts'

export interface HttpParts {
  readonly streams: Streams
  readonly metrics: ServerMetrics
  readonly log: Logger
}

/** Serves streams over HTTP, in the protocol of that listener. @throws StartupError */
export function openHttp(
  { flag, listen, protocol }: HttpListenerConfig,
  { routing, corsOrigins, longPollTimeoutMs, sseMaxDurationMs }: HttpConfig,
  { streams, metrics, log }: HttpParts,
): Promise<HttpListener> {
  const observer = metrics.http(protocol)
  const settings = { ...listen, protocol, routing, corsOrigins, longPollTimeoutMs, sseMaxDurationMs }
  return listening(flag, listen, () =>
    listenHttp({ streams, clock: systemClock, log, observer }, { ...defaultHttpSettings, ...settings }),
  )
}
