import { mediaTypeOf } from '@pico/http-contract'
import type { SchemaRegistry } from '@pico/schema-registry'
import type { CorsRules } from '../server/cors.ts'
import type { Exchange } from '../server/exchange.ts'
import type { HttpError } from '../server/http-error.ts'
import { type HttpListener, openHttpServer } from '../server/http-server.ts'
import type { HttpObserver } from '../server/observer.ts'
import { silentHttpObserver } from '../server/observer.ts'
import { httpErrorOf } from '../server/operational-errors.ts'
import { defaultHttpServerSettings, type HttpServerSettings } from '../server/settings.ts'
import type { Clock, Logger } from '../server/surroundings.ts'
import { ConfluentError } from './confluent-errors.ts'
import { RawText, routes } from './confluent-routes.ts'

export interface SchemaRegistryComponents {
  readonly registry: SchemaRegistry
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: HttpObserver
}

const contentType = 'application/vnd.schemaregistry.v1+json'

/** A schema of the largest size, escaped in JSON. */
const bodyBytesMax = 8 * 1024 * 1024

const cors: CorsRules = {
  methods: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  requestHeaders: 'Content-Type, Accept, Authorization',
  exposedHeaders: 'Content-Type, Retry-After',
}

/**
 * Serves named schemas as Confluent's registry does (https://docs.confluent.io/platform/current/schema-registry/develop/api.html), as far as
 * serializers, deserializers and tools call it.
 * @throws the error of `listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND.
 */
export function listenSchemaRegistry(
  { registry, clock, log, observer = silentHttpObserver }: SchemaRegistryComponents,
  where: Pick<HttpServerSettings, 'host' | 'port'> & Partial<HttpServerSettings>,
): Promise<HttpListener> {
  const settings = { ...defaultHttpServerSettings, bodyBytesMax, ...where }
  const serve = async (exchange: Exchange) => {
    exchange.route = 'schema'
    try {
      const answered = await answerTo(exchange, registry)
      if (answered instanceof RawText) respond(exchange, 200, answered.text)
      else respond(exchange, 200, JSON.stringify(answered))
    } catch (error) {
      fail(exchange, error, log)
    }
  }
  return openHttpServer({ cors, serve }, { clock, log, observer }, settings)
}

function answerTo(exchange: Exchange, registry: SchemaRegistry): Promise<unknown> {
  const segments = segmentsOf(exchange.path)
  const method = exchange.method === 'HEAD' ? 'GET' : exchange.method
  const atPath = table.filter((route) => matches(route.pattern, segments))
  const route = atPath.find((found) => found.method === method)
  if (route === undefined) {
    if (atPath.length === 0) throw new ConfluentError(404, 'HTTP 404 Not Found')
    throw new ConfluentError(405, 'HTTP 405 Method Not Allowed')
  }
  if (method === 'POST' || method === 'PUT') requireJson(exchange)
  const given = segments.filter((_, index) => route.pattern[index] === null)
  const query = new URLSearchParams(exchange.queryText)
  return route.answer({ exchange, registry, query, at: (index) => given[index] ?? '' })
}

/** The segments of its path; null stands for any. */
const table = routes.map(([method, path, answer]) => ({
  method,
  pattern: path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => (segment.startsWith('{') ? null : segment)),
  answer,
}))

function matches(pattern: readonly (string | null)[], segments: readonly string[]): boolean {
  return pattern.length === segments.length && pattern.every((at, index) => at === null || at === segments[index])
}

function segmentsOf(path: string): string[] {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) throw new ConfluentError(400, 'The path is not percent-encoded UTF-8')
    throw error
  }
}

/** Web pages of other origins can send text and forms without being allowed to; the registry's own types they cannot. */
function requireJson(exchange: Exchange): void {
  const given = mediaTypeOf(exchange.header('content-type') ?? '')
  if (/^application\/(?:vnd\.schemaregistry(?:\.v1)?\+json|json|octet-stream)$/.test(given)) return
  throw new ConfluentError(415, `HTTP 415 Unsupported Media Type: a body is ${contentType}`)
}

function respond(exchange: Exchange, status: number, body: string, headers: readonly string[] = []): void {
  exchange.respond(status, [...headers, 'Content-Type', contentType, 'Cache-Control', 'no-cache'], body)
}

/** @param error whatever was thrown */
function fail(exchange: Exchange, error: unknown, log: Logger): void {
  if (error instanceof ConfluentError) {
    respond(exchange, error.status, JSON.stringify({ error_code: error.errorCode, message: error.message }))
    return
  }
  const httpError = httpErrorOf(error, log, { method: exchange.method, path: exchange.path })
  const { status, headers, message } = httpError
  // Only the exchange itself knows how to refuse a body that is still arriving.
  if (status === 413) exchange.fail(httpError)
  else respond(exchange, status, JSON.stringify({ error_code: codeOf(httpError), message }), headers)
}

/** 50001: the store of schemas does not answer. */
function codeOf({ status }: HttpError): number {
  return status >= 500 ? 50001 : status
}
