import { defaultHttpServerSettings, type HttpServerSettings } from './server/settings.ts'

/** Of a listener that serves streams. */
export interface HttpSettings extends HttpServerSettings {
  /** Pico's own protocol, or Durable Streams. */
  readonly protocol: 'pico' | 'ds'
  /** A stream that another node has: send the client there, or say `not_owner`. */
  readonly routing: 'redirect' | 'local'
  /** What a read gives at most where the client does not say: bytes of keys, headers and bodies. */
  readonly readBytesDefault: number
  /** What a read gives at most whatever the client says. */
  readonly readBytesMax: number
  /** How long a long poll waits at the tail. */
  readonly longPollTimeoutMs: number
  /** How long a client is sent events before it has to connect again. */
  readonly sseMaxDurationMs: number
  /** How long a connection for events may be silent. */
  readonly sseKeepAliveMs: number
}

export const defaultHttpSettings: Omit<HttpSettings, 'host' | 'port'> = {
  ...defaultHttpServerSettings,
  protocol: 'pico',
  routing: 'redirect',
  readBytesDefault: 1024 * 1024,
  readBytesMax: 64 * 1024 * 1024,
  longPollTimeoutMs: 25_000,
  sseMaxDurationMs: 55_000,
  sseKeepAliveMs: 15_000,
}
