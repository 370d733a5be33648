import { type ListedStream, listQuerySchema, picoHeaders, rfc3339Of } from '@pico/http-contract'
import type { StreamDescription } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { boundSchemaOf } from '../stream-schema.ts'
import { missed, streamNameOf } from './addressed-stream.ts'
import type { PicoParts } from './pico-parts.ts'
import { queryOf } from './request-values.ts'

/** HEAD /{stream}: what it is, without its records. Nothing is opened for it. */
export async function head(exchange: Exchange, { paths, settings }: PicoParts): Promise<void> {
  exchange.route = 'head'
  const stream = await paths.describe(streamNameOf(exchange))
  if (typeof stream === 'string' || 'kind' in stream) throw missed(exchange, stream, settings.routing)
  const ttl = ttlSecondsOf(stream)
  const expiresAt = expiresAtOf(stream)
  exchange.respond(200, [
    'Content-Type',
    stream.contentType,
    picoHeaders.startSeq,
    String(stream.startOffset),
    picoHeaders.nextSeq,
    String(stream.nextOffset),
    ...(ttl === undefined ? [] : [picoHeaders.ttl, String(ttl)]),
    ...(expiresAt === undefined ? [] : [picoHeaders.expiresAt, expiresAt]),
    ...schemaHeader(stream),
    ...(stream.closed ? [picoHeaders.closed, 'true'] : []),
    'Cache-Control',
    'no-store',
  ])
}

/** What it is bound to, whether or not records are held to it. */
export function schemaHeader({ config }: StreamDescription): string[] {
  const { schema } = boundSchemaOf(config)
  return schema === null ? [] : [picoHeaders.schema, schema]
}

/** GET /?…: streams in the byte order of their names. */
export async function list(exchange: Exchange, { paths }: PicoParts): Promise<void> {
  exchange.route = 'list'
  const { prefix, start_after: after = null, limit } = queryOf(listQuerySchema, exchange)
  const found = await paths.list({ prefix, after, limit: limit + 1 })
  const body = { streams: found.slice(0, limit).map(listed), has_more: found.length > limit }
  const headers = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']
  exchange.respond(200, headers, JSON.stringify(body))
}

function listed(stream: StreamDescription): ListedStream {
  const ttl = ttlSecondsOf(stream)
  const expiresAt = expiresAtOf(stream)
  const { schema } = boundSchemaOf(stream.config)
  return {
    name: stream.name,
    ...(stream.topic !== null && { topic: stream.topic }),
    content_type: stream.contentType,
    start_seq: stream.startOffset,
    next_seq: stream.nextOffset,
    closed: stream.closed,
    ...(ttl !== undefined && { ttl }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(schema !== null && { schema }),
  }
}

/** How long records are kept, where the stream itself says so and it is not for ever. */
function ttlSecondsOf({ config }: StreamDescription): number | undefined {
  const retentionMs = Number(config['retention.ms'] ?? -1)
  return retentionMs < 0 ? undefined : retentionMs / 1000
}

function expiresAtOf({ expiry }: StreamDescription): string | undefined {
  return expiry.kind === 'at' ? rfc3339Of(expiry.expiresAtMs) : undefined
}
