import { createHeadersSchema, isMediaType, mediaTypes, pathOfStreamName, picoHeaders } from '@pico/http-contract'
import type { CreateStreamOutcome, StreamDescription, StreamExpiry } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, HttpError } from '../server/http-error.ts'
import { elsewhere, writableStreamNameOf } from './addressed-stream.ts'
import { isBatch, recordsOfBody } from './append-body.ts'
import type { PicoParts } from './pico-parts.ts'
import { headersOf } from './request-values.ts'

/*
 * PUT /{stream}: makes it, with the body as its first records. Of a stream that is there already only the content type is compared,
 * and nothing is appended. A body that is a batch of records says nothing of the stream's type: that is then the default.
 */
export async function create(exchange: Exchange, { paths, clock, settings }: PicoParts): Promise<void> {
  exchange.route = 'create'
  const name = writableStreamNameOf(exchange)
  const headers = headersOf(createHeadersSchema, ['pico-ttl', 'pico-expires-at', 'pico-closed'], exchange)
  const given = exchange.header('content-type')
  const contentType = given === undefined || isBatch(given) ? mediaTypes.octetStream : given
  if (!isMediaType(contentType)) throw badRequest('Content-Type is no media type')
  const expiresAtMs = headers['pico-expires-at']
  if (expiresAtMs !== undefined && expiresAtMs <= clock.nowMs()) throw badRequest('Pico-Expires-At is in the past')
  const records = recordsOfBody(await exchange.body(), given)

  const ttlSeconds = headers['pico-ttl']
  const expiry: StreamExpiry = expiresAtMs === undefined ? { kind: 'never' } : { kind: 'at', expiresAtMs }
  const outcome = await paths.create({
    name,
    contentType,
    config: ttlSeconds === undefined ? {} : { 'retention.ms': String(ttlSeconds * 1000) },
    expiry,
    closed: headers['pico-closed'] ?? false,
    records,
    matches: (existing) => isSameType(existing.contentType, contentType),
  })
  const stream = streamOf(outcome, exchange, settings.routing)
  exchange.respond(outcome.kind === 'created' ? 201 : 200, [
    'Location',
    pathOfStreamName(name),
    'Content-Type',
    stream.contentType,
    picoHeaders.startSeq,
    String(stream.startOffset),
    picoHeaders.nextSeq,
    String(stream.nextOffset),
    ...(stream.closed ? [picoHeaders.closed, 'true'] : []),
  ])
}

function isSameType(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

/** @throws HttpError when there is none */
function streamOf(outcome: CreateStreamOutcome, exchange: Exchange, routing: 'redirect' | 'local'): StreamDescription {
  switch (outcome.kind) {
    case 'created':
    case 'exists':
      return outcome.stream
    case 'conflict':
      throw new HttpError('conflict', outcome.message)
    case 'invalid':
      throw badRequest(outcome.message)
    case 'not-owner':
      throw elsewhere(exchange, outcome, routing)
    default:
      // The others are about forks, which nobody asked for.
      throw new Error(`creating a stream came to ${outcome.kind}`)
  }
}
