import type { StreamExpiry } from '@pico/streams'
import { Problem } from './problem.ts'
import { parseCanonicalNumber } from './whole-number.ts'

/** `Stream-TTL` (seconds since somebody last read or wrote) or `Stream-Expires-At`; null when the request gives neither. */
export function parseLifetime(ttl: string | undefined, expiresAt: string | undefined): StreamExpiry | null | Problem {
  if (ttl !== undefined && expiresAt !== undefined) {
    return new Problem('Stream-TTL and Stream-Expires-At exclude each other')
  }
  if (ttl !== undefined) {
    const ttlSeconds = parseCanonicalNumber(ttl)
    if (ttlSeconds === null || !Number.isSafeInteger(ttlSeconds * 1000)) {
      return new Problem('Stream-TTL has to be a whole number of seconds')
    }
    return { kind: 'idle', ttlSeconds }
  }
  if (expiresAt !== undefined) {
    const expiresAtMs = parseRfc3339(expiresAt)
    if (expiresAtMs === null) return new Problem('Stream-Expires-At has to be a time as RFC 3339 writes it')
    return { kind: 'at', expiresAtMs }
  }
  return null
}

/** The headers that tell what `expiry` is: of an idle time the whole, not what is left of it. */
export function lifetimeHeaders(expiry: StreamExpiry): Record<string, string> {
  switch (expiry.kind) {
    case 'never':
      return {}
    case 'idle':
      return { 'Stream-TTL': String(expiry.ttlSeconds) }
    case 'at':
      return { 'Stream-Expires-At': new Date(expiry.expiresAtMs).toISOString() }
  }
}

export function isSameLifetime(a: StreamExpiry, b: StreamExpiry): boolean {
  if (a.kind === 'idle' && b.kind === 'idle') return a.ttlSeconds === b.ttlSeconds
  if (a.kind === 'at' && b.kind === 'at') return a.expiresAtMs === b.expiresAtMs
  return a.kind === b.kind
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/i

/** RFC 3339 section 5.6, milliseconds since 1970; what is finer is cut off. A leap second is the second after it. */
export function parseRfc3339(text: string): number | null {
  const match = rfc3339.exec(text)
  if (match === null) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null
  if (hour > 23 || minute > 59 || second > 60) return null
  const offsetHours = Number(match[9] ?? 0)
  const offsetMinutes = Number(match[10] ?? 0)
  if (offsetHours > 23 || offsetMinutes > 59) return null
  const fractionMs = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const offsetMs = (match[8] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000
  // Date.UTC takes the years 0 to 99 for those of the 20th century.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, fractionMs)
  return date.getTime() - offsetMs
}

function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}
