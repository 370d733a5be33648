import { isIP } from 'node:net'
import { UsageError } from './exit-errors.ts'

export interface HostPort {
  /** Without brackets, also for IPv6. */
  readonly host: string
  readonly port: number
}

/** `127.0.0.1:9092`, `[::1]:9092`, `broker.internal:9092`. @throws UsageError naming `flag` */
export function parseHostPort(text: string, flag: string): HostPort {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || port > 65_535) throw new UsageError(`${flag}: ${JSON.stringify(text)} is not host:port`)
  return { host, port }
}

export function formatHostPort({ host, port }: HostPort): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** Only this machine can connect there. A name counts only if it is `localhost`: what others resolve to may change. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Listening on every address: nothing a client could connect to. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '*'
}
