import { StartupError, UsageError } from './exit-errors.ts'
import { formatHostPort, type HostPort, isLoopback, isWildcard } from './host-port.ts'
import type { ServeSettings } from './serve-config.ts'

/** A listener for streams over HTTP. */
export interface HttpListenerConfig {
  readonly listen: HostPort
  readonly protocol: 'pico' | 'ds'
  /** The flag that it comes from, for messages. */
  readonly flag: 'listen' | 'ds-listen'
}

export interface HttpConfig {
  /** May be empty. */
  readonly listeners: readonly HttpListenerConfig[]
  /** URL by which others reach `--listen`, without a path; undefined: where it listens. */
  readonly address: string | undefined
  readonly routing: 'redirect' | 'local'
  readonly corsOrigins: readonly string[]
  readonly longPollTimeoutMs: number
  readonly sseMaxDurationMs: number
}

export function httpConfig(settings: ServeSettings): HttpConfig {
  const { protocol, routing } = settings
  const listeners: HttpListenerConfig[] = []
  if (!settings['no-http']) {
    listeners.push({ listen: requireUnexposed('listen', settings.listen, settings), protocol, flag: 'listen' })
  }
  const dsListen = settings['ds-listen']
  if (dsListen !== undefined) {
    listeners.push({ listen: requireUnexposed('ds-listen', dsListen, settings), protocol: 'ds', flag: 'ds-listen' })
  }
  return {
    listeners,
    address: settings['http-address'],
    routing,
    corsOrigins: settings['cors-origin'] ?? [],
    longPollTimeoutMs: settings['long-poll-timeout-sec'] * 1000,
    sseMaxDurationMs: settings['sse-max-duration-sec'] * 1000,
  }
}

/** By which others reach `--listen`: as told, or where it listens; null where that is no address, or there is nothing. */
export function advertisedHttpAddress({ address, listeners }: HttpConfig, boundPort?: number): string | null {
  const main = listeners.find(({ flag }) => flag === 'listen')
  if (main === undefined) return null
  if (address !== undefined) return address
  const { host, port } = main.listen
  return isWildcard(host) ? null : `http://${formatHostPort({ host, port: boundPort ?? port })}`
}

/** Where an HTTP listener listens, if it may be exposed as it would be (architecture section 12). @throws StartupError */
export function requireUnexposed(
  flag: 'listen' | 'ds-listen' | 'admin-listen' | 'schema-registry-listen',
  listen: HostPort,
  settings: Pick<ServeSettings, 'insecure-allow-remote'>,
): HostPort {
  if (isLoopback(listen.host) || settings['insecure-allow-remote']) return listen
  throw new StartupError(
    `--${flag} ${formatHostPort(listen)} is beyond loopback, and everybody there could use it (--auth none): give --insecure-allow-remote if its network is trusted`,
  )
}

/** `http://node1:4437`, or `node1:4437`. @throws UsageError */
export function parseHttpAddress(text: string): string {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
  const isAddress = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (!isAddress || isWildcard(url.hostname.replace(/^\[|\]$/g, ''))) {
    throw new UsageError(`--http-address: ${JSON.stringify(text)} is no address such as http://node1:4437`)
  }
  return url.origin
}

/** @throws UsageError */
export function parseOrigins(text: string): string[] {
  return text.split(',').map((part) => {
    const origin = part.trim()
    if (origin === '*') return origin
    if (URL.parse(origin)?.origin !== origin) {
      throw new UsageError(
        `--cors-origin: ${JSON.stringify(origin)} is neither * nor an origin such as https://app.example`,
      )
    }
    return origin
  })
}
