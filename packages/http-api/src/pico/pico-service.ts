import { picoHeaders, schemaHeaders } from '@pico/http-contract'
import { isSchemasPath, serveSchemas } from '../schemas/schemas-service.ts'
import type { CorsRules } from '../server/cors.ts'
import type { Exchange } from '../server/exchange.ts'
import { type HttpService, methodNotAllowed } from '../server/http-server.ts'
import { append } from './append.ts'
import { create } from './create.ts'
import { deleteStream } from './delete.ts'
import { head, list } from './describe.ts'
import type { PicoParts } from './pico-parts.ts'
import { read } from './read.ts'

const methods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
const methodsOfRoot = 'GET, HEAD, OPTIONS'

const { startSeq, nextSeq, timestamp, cursor, upToDate, closed, ttl, expiresAt, schema } = picoHeaders
const { producerId, producerEpoch, producerSeq, expectedSeq, receivedSeq, matchSeq, trimSeq } = picoHeaders

const cors: CorsRules = {
  methods,
  requestHeaders: [
    ...['Content-Type', 'Authorization', 'If-None-Match', 'Last-Event-ID'],
    ...[ttl, expiresAt, closed, schema, producerId, producerEpoch, producerSeq, matchSeq, trimSeq],
  ].join(', '),
  exposedHeaders: [
    ...['Content-Type', 'ETag', 'Location', 'Retry-After'],
    ...[startSeq, nextSeq, timestamp, cursor, upToDate, closed, ttl, expiresAt, schema],
    ...[producerEpoch, producerSeq, expectedSeq, receivedSeq],
    ...Object.values(schemaHeaders),
  ].join(', '),
}

/** The Pico protocol: a stream by its path, the listing at `/`, and named schemas at `/_schemas`. */
export function picoService(parts: PicoParts): HttpService {
  return {
    cors,
    serve(exchange) {
      if (exchange.path === '/') return serveRoot(exchange, parts)
      if (parts.registry !== null && isSchemasPath(exchange.path)) return serveSchemas(exchange, parts.registry)
      return serveStream(exchange, parts)
    },
  }
}

function serveStream(exchange: Exchange, parts: PicoParts): void | Promise<void> {
  switch (exchange.method) {
    case 'POST':
      return append(exchange, parts)
    case 'GET':
      return read(exchange, parts)
    case 'HEAD':
      return head(exchange, parts)
    case 'PUT':
      return create(exchange, parts)
    case 'DELETE':
      return deleteStream(exchange, parts)
    default:
      throw methodNotAllowed(exchange.method, methods)
  }
}

function serveRoot(exchange: Exchange, parts: PicoParts): Promise<void> {
  if (exchange.method === 'GET' || exchange.method === 'HEAD') return list(exchange, parts)
  throw methodNotAllowed(exchange.method, methodsOfRoot)
}
