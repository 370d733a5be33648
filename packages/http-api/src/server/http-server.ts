import { streamNameBytesMax } from '@pico/http-contract'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
  type FastifyServerOptions,
  fastify,
} from 'fastify'
import { BodyBuffers } from './body-buffers.ts'
import { answerBrokenRequest } from './broken-requests.ts'
import { Cors, type CorsRules } from './cors.ts'
import { Draining } from './draining.ts'
import { Exchange, type ExchangeSurroundings } from './exchange.ts'
import { badRequest, HttpError } from './http-error.ts'
import { HttpSockets } from './http-sockets.ts'
import { type HttpObserver, silentHttpObserver } from './observer.ts'
import { tooLarge } from './request-body.ts'
import type { Room } from './room.ts'
import type { HttpServerSettings } from './settings.ts'
import type { Clock, Logger } from './surroundings.ts'

export interface HttpServerComponents {
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: HttpObserver
  /** Without it there is always room. */
  readonly room?: Room
}

export interface HttpListener {
  readonly host: string
  readonly port: number
  /** Open ones, of either protocol. */
  readonly connections: number
  /**
   * Accepts no more, ends what waits at the tail, and lets requests at hand finish for up to `drainMs`; then ends every connection.
   */
  close(drainMs: number): Promise<void>
}

/** What a listener serves. */
export interface HttpService {
  readonly cors: CorsRules
  /** Answers a request of any method but OPTIONS, and of any path. What it throws, or rejects with, is answered as an error. */
  serve(exchange: Exchange): void | Promise<void>
}

/**
 * Serves HTTP/1.1 and cleartext HTTP/2 (by prior knowledge) on one port.
 * @throws the error of `listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND.
 */
export function openHttpServer(
  service: HttpService,
  components: HttpServerComponents,
  settings: HttpServerSettings,
): Promise<HttpListener> {
  // What a stream is called is none of a router's business: every path is the service's.
  const rewriteUrl = () => '/'
  return start({ rewriteUrl }, service.cors, components, settings, (app, surroundings) => {
    routeAll(app, service, surroundings)
  })
}

/**
 * The same for an API of a few fixed paths: `register` adds Fastify routes, whose answers get the headers and whose errors get the
 * form that all others have. Of a body a route sees the bytes: `request.body` is a Buffer, within the limits, or undefined.
 */
export function openRoutedServer(
  register: (app: FastifyInstance) => void | Promise<void>,
  cors: CorsRules,
  components: HttpServerComponents,
  settings: HttpServerSettings,
): Promise<HttpListener> {
  const routerOptions = { maxParamLength: pathParameterLengthMax }
  return start({ routerOptions }, cors, components, settings, (app, surroundings) => {
    routeAsAllOthers(app, surroundings)
    return register(app)
  })
}

async function start(
  options: FastifyServerOptions,
  corsRules: CorsRules,
  { clock, log, observer = silentHttpObserver, room = alwaysRoom }: HttpServerComponents,
  settings: HttpServerSettings,
  register: (app: FastifyInstance, surroundings: ExchangeSurroundings) => void | Promise<void>,
): Promise<HttpListener> {
  const draining = new Draining()
  const cors = new Cors(corsRules, settings.corsOrigins)
  const surroundings = { clock, log, observer, cors, draining, room, settings, bodyBuffers: new BodyBuffers() }
  const sockets = new HttpSockets(log, observer, settings)
  const app = fastify({
    ...options,
    serverFactory: ((handler) => sockets.attach(handler)) as FastifyServerFactory,
    bodyLimit: settings.bodyBytesMax,
    clientErrorHandler: answerBrokenRequest,
    // A server that goes down finishes what it has, and says `Connection: close` itself.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      reply.hijack()
      new Exchange(request.raw, reply.raw, surroundings).fail(badRequest(error.message))
    },
  })
  await register(app, surroundings)
  await app.ready()
  await sockets.listen()
  return {
    host: settings.host,
    port: sockets.port,
    get connections() {
      return sockets.connections
    },
    async close(drainMs) {
      draining.begin()
      await sockets.close(drainMs, clock)
      await app.close()
    },
  }
}

const alwaysRoom: Room = { hasRoom: () => true, whenRoom: () => Promise.resolve() }

/** In a path of a routed server: the longest stream name, every byte of it percent-encoded. */
const pathParameterLengthMax = 3 * streamNameBytesMax

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

function routeAll(app: FastifyInstance, service: HttpService, surroundings: ExchangeSurroundings): void {
  // Whoever wants a body reads it from the exchange, within the limits: for Fastify no method has one, also not those that we refuse.
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.route({
    method: methods,
    url: '/',
    handler(request, reply) {
      reply.hijack()
      serve(service, new Exchange(request.raw, reply.raw, surroundings))
    },
  })
  app.setNotFoundHandler((request, reply) => {
    reply.hijack()
    const exchange = new Exchange(request.raw, reply.raw, surroundings)
    exchange.fail(methodNotAllowed(exchange.method, service.cors.methods))
  })
}

function routeAsAllOthers(app: FastifyInstance, surroundings: ExchangeSurroundings): void {
  const exchangeOf = (request: FastifyRequest, reply: FastifyReply) =>
    new Exchange(request.raw, reply.raw, surroundings)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', (request, reply, done) => {
    const headers = surroundings.cors.headersFor(request.headers)
    for (let i = 0; i + 1 < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1])
    if (surroundings.draining.hasBegun && request.raw.httpVersionMajor === 1) reply.header('Connection', 'close')
    const exchange = exchangeOf(request, reply)
    if (request.method === 'OPTIONS') {
      reply.hijack()
      exchange.preflight()
      return
    }
    done(requestProblem(exchange) ?? undefined)
  })
  app.setErrorHandler((error, request, reply) => {
    reply.hijack()
    const exchange = exchangeOf(request, reply)
    if (!exchange.isGone) exchange.fail(isClientError(error) ? clientError(error, surroundings.settings) : error)
  })
  app.setNotFoundHandler((request, reply) => {
    reply.hijack()
    exchangeOf(request, reply).fail(new HttpError('not_found', 'there is nothing at this path'))
  })
}

/** Fastify's own, about a request. */
function isClientError(error: unknown): error is Error & { readonly statusCode: number } {
  if (!(error instanceof Error && 'code' in error && 'statusCode' in error)) return false
  return String(error.code).startsWith('FST_ERR_') && Number(error.statusCode) < 500
}

function clientError(error: { statusCode: number; message: string }, { bodyBytesMax }: HttpServerSettings): HttpError {
  return error.statusCode === 413 ? tooLarge(bodyBytesMax) : badRequest(error.message)
}

function serve(service: HttpService, exchange: Exchange): void {
  try {
    const problem = requestProblem(exchange)
    if (problem !== null) throw problem
    if (exchange.method === 'OPTIONS') exchange.preflight()
    else service.serve(exchange)?.catch((error: unknown) => exchange.fail(error))
  } catch (error) {
    exchange.fail(error)
  }
}

/** What Node lets through, or would answer in other words than ours. */
function requestProblem({ request, isHttp2, headersMax }: Exchange): HttpError | null {
  const { httpVersion, headers, rawHeaders } = request
  if (rawHeaders.length > 2 * headersMax) {
    return new HttpError('headers_too_large', `a request has at most ${headersMax} headers`)
  }
  if (isHttp2) return null
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return badRequest(`HTTP/${httpVersion} is not spoken here`)
  const { host, 'transfer-encoding': transferEncoding } = headers
  if (host === undefined && httpVersion === '1.1') return badRequest('HTTP/1.1 requests have a Host header')
  // RFC 9112, 3.2. Node keeps the first of several.
  if (host !== undefined && (!validHost.test(host) || countOf(rawHeaders, 'host') > 1)) {
    return badRequest('Host is one host, with or without a port')
  }
  // RFC 9112, 6.1: other codings would be stored as they are, and whoever is between us may read the length differently.
  if (transferEncoding !== undefined && (httpVersion === '1.0' || transferEncoding.toLowerCase() !== 'chunked')) {
    return badRequest('Transfer-Encoding is chunked, in HTTP/1.1, or nothing')
  }
  return null
}

/** RFC 3986, 3.2.2, as far as it keeps a host from being something else. May be empty. */
const validHost = /^[A-Za-z0-9\-._~!$&'()*+,;=%:[\]]*$/

/** `rawHeaders` are names and values in turn. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] ?? ''
    if (given.length === name.length && given.toLowerCase() === name) count++
  }
  return count
}

export function methodNotAllowed(method: string, allowed: string): HttpError {
  return new HttpError('method_not_allowed', `there is no ${method} here`, { headers: ['Allow', allowed] })
}
