import { createHeadersSchema, isMediaType, mediaTypes, pathOfStreamName, picoHeaders } from '@pico/http-contract'
import type { CreateStreamOutcome, StreamDescription, StreamExpiry } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, breaksSchema, HttpError } from '../server/http-error.ts'
import { boundSchemaOf } from '../stream-schema.ts'
import { elsewhere, writableStreamNameOf } from './addressed-stream.ts'
import { isBatch, recordsOfBody } from './append-body.ts'
import { schemaHeader } from './describe.ts'
import type { PicoParts } from './pico-parts.ts'
import { recordValues } from './record-values.ts'
import { headersOf } from './request-values.ts'

/*
 * PUT /{stream}: makes it, with the body as its first records. Of a stream that is there already only the content type is compared,
 * and, where the request names one, the schema; and nothing is appended. A body that is a batch of records says nothing of the stream's
 * type: that is then the default. `Pico-Schema` binds the stream, and holds every record to the schema, those of the body first.
 */
export async function create(exchange: Exchange, { paths, schemas, clock, settings }: PicoParts): Promise<void> {
  exchange.route = 'create'
  const name = writableStreamNameOf(exchange)
  const headers = headersOf(
    createHeadersSchema,
    ['pico-ttl', 'pico-expires-at', 'pico-closed', 'pico-schema'],
    exchange,
  )
  const given = exchange.header('content-type')
  const contentType = given === undefined || isBatch(given) ? mediaTypes.octetStream : given
  if (!isMediaType(contentType)) throw badRequest('Content-Type is no media type')
  const expiresAtMs = headers['pico-expires-at']
  if (expiresAtMs !== undefined && expiresAtMs <= clock.nowMs()) throw badRequest('Pico-Expires-At is in the past')
  const records = recordsOfBody(await exchange.body(), given)

  const ttlSeconds = headers['pico-ttl']
  const schema = headers['pico-schema']
  const expiry: StreamExpiry = expiresAtMs === undefined ? { kind: 'never' } : { kind: 'at', expiresAtMs }
  const outcome = await paths.create({
    name,
    contentType,
    config: {
      ...(ttlSeconds !== undefined && { 'retention.ms': String(ttlSeconds * 1000) }),
      ...(schema !== undefined && { 'pico.schema': schema, 'pico.schema.validate': 'true' }),
    },
    expiry,
    closed: headers['pico-closed'] ?? false,
    records,
    judge: (binding) => schemas.judgeValues(binding, recordValues(records)),
    matches: (existing) => isSameType(existing.contentType, contentType) && isBoundTo(existing, schema),
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
    ...schemaHeader(stream),
    ...(stream.closed ? [picoHeaders.closed, 'true'] : []),
  ])
}

function isSameType(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

/** A name without a version is any version of it: the stream was bound to the one that was the newest then. */
function isBoundTo({ config }: StreamDescription, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  const { schema, isValidated } = boundSchemaOf(config)
  return isValidated && (schema === wanted || schema?.replace(/:\d+$/, '') === wanted)
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
    case 'unknown-schema':
      throw new HttpError('unknown_schema', outcome.message)
    case 'breaks-schema':
      throw breaksSchema(outcome.judgement)
    case 'not-owner':
      throw elsewhere(exchange, outcome, routing)
    default:
      // The others are about forks, which nobody asked for.
      throw new Error(`creating a stream came to ${outcome.kind}`)
  }
}
