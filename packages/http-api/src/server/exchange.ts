import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodyBuffers } from './body-buffers.ts'
import type { Cors } from './cors.ts'
import type { Draining } from './draining.ts'
import { HttpError } from './http-error.ts'
import type { HttpObserver, HttpRoute } from './observer.ts'
import { httpErrorOf } from './operational-errors.ts'
import { receiveBody } from './request-body.ts'
import { type Room, waitForRoom } from './room.ts'
import type { HttpServerSettings } from './settings.ts'
import type { Clock, Logger } from './surroundings.ts'

/** What all exchanges of a server share. */
export interface ExchangeSurroundings {
  readonly clock: Clock
  readonly log: Logger
  readonly observer: HttpObserver
  readonly cors: Cors
  readonly draining: Draining
  /** Where there is none, bodies are not read. */
  readonly room: Room
  readonly settings: HttpServerSettings
  readonly bodyBuffers: BodyBuffers
}

/** More than what goes into the buffers of a connection whether or not the client reads. */
const largeBodyBytes = 64 * 1024
/** How long we go on reading, after we have refused a body, so that the client finds our answer and not a broken connection. */
const lingerMs = 1000

/**
 * A request and its answer, over HTTP/1.1 or HTTP/2 (which Node shows as the same). Headers are lists of names and values in turn:
 * that is what Node writes fastest.
 */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  /** As the client sent it: percent-encoded, without the query. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly queryText: string
  /** For metrics. */
  route: HttpRoute = 'other'
  readonly #surroundings: ExchangeSurroundings
  readonly #beganMs: number
  #waitsSinceMs: number | null = null

  constructor(request: IncomingMessage, response: ServerResponse, surroundings: ExchangeSurroundings) {
    this.request = request
    this.response = response
    this.method = request.method ?? ''
    this.#surroundings = surroundings
    this.#beganMs = performance.now()
    const target = originForm(originalUrl(request))
    const queryAt = target.indexOf('?')
    this.path = queryAt < 0 ? target : target.slice(0, queryAt)
    this.queryText = queryAt < 0 ? '' : target.slice(queryAt + 1)
  }

  get isHttp2(): boolean {
    // A client of HTTP/1.1 may write any version into its request line.
    return this.request.httpVersionMajor === 2 && 'stream' in this.request
  }

  /** Nobody is there to read an answer. */
  get isGone(): boolean {
    return this.response.destroyed || this.response.writableEnded
  }

  get isDraining(): boolean {
    return this.#surroundings.draining.hasBegun
  }

  get headersMax(): number {
    return this.#surroundings.settings.headersMax
  }

  /** By its name in lower case. Repetitions are joined by commas, as Node does. */
  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** Of this request, absolute, without the query. */
  get url(): string {
    const authority = this.request.headers[':authority'] ?? this.request.headers.host ?? 'localhost'
    return `http://${String(authority)}${this.path}`
  }

  /**
   * Reads the whole body, within the server's limit, when the log has room, and calls back once with it or with why there is none.
   * Does not call back when the client has gone. The body is borrowed until `received` returns.
   */
  receiveBody(received: (body: Buffer | HttpError) => void): void {
    const { room, clock, settings, bodyBuffers } = this.#surroundings
    const start = () => {
      // What was answered meanwhile, since it took too long, is not to be done any more.
      receiveBody(this.request, settings.bodyBytesMax, bodyBuffers, (body) => this.isGone || received(body))
      if (this.isHttp2) this.#limitArrival()
    }
    if (room.hasRoom() || !hasBody(this.request)) start()
    else waitForRoom(room, clock, settings.roomTimeoutMs).then(start, (error) => this.fail(error))
  }

  /** What Node does by itself for HTTP/1.1. */
  #limitArrival(): void {
    const { clock, settings } = this.#surroundings
    const cancel = clock.after(settings.requestTimeoutMs, () => {
      this.fail(new HttpError('request_timeout', 'the request took too long to arrive'))
      this.response.destroy()
    })
    this.request.on('end', cancel)
    this.onClose(cancel)
  }

  /** As `receiveBody`, but the body is the caller's. @throws HttpError */
  body(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.receiveBody((body) => (body instanceof HttpError ? reject(body) : resolve(Buffer.from(body))))
    })
  }

  /** Calls back once when the client goes before it was answered, or the answer is out. */
  onClose(callback: () => void): void {
    this.response.on('close', callback)
  }

  /** Calls back once when the server begins to go down, unless the returned function was called before. */
  onDraining(callback: () => void): () => void {
    return this.#surroundings.draining.onBegin(callback)
  }

  /** The whole answer. Of HEAD, and of a status that has none, no body is sent. */
  respond(status: number, headers: readonly string[], body: Uint8Array | string = ''): void {
    const { response } = this
    if (this.isGone) return
    const all = this.#allHeaders(headers)
    if (status !== 204 && status !== 304) all.push('Content-Length', String(Buffer.byteLength(body)))
    response.writeHead(status, all)
    if (body.length === 0) response.end()
    else response.end(body)
    if (body.length >= largeBodyBytes) this.onClose(this.#cutOffLater())
    this.#answered(status)
  }

  /** The answer will be long in coming, and that is as it should be: for metrics the request ends here. */
  beginsToWait(): void {
    this.#waitsSinceMs = performance.now()
  }

  /** OPTIONS, whatever its path. */
  preflight(): void {
    this.route = 'preflight'
    this.respond(204, this.#surroundings.cors.preflightHeaders())
  }

  /** The head of an answer whose body is written bit by bit; of HTTP/1.1 in chunks. */
  begin(status: number, headers: readonly string[]): void {
    if (this.isGone) return
    this.response.writeHead(status, this.#allHeaders(headers))
    this.response.flushHeaders()
    this.#answered(status)
  }

  /** Writes no faster than the client reads. Cuts the answer off when `chunks` fails: the client must not take it for whole. */
  async stream(status: number, headers: readonly string[], chunks: AsyncIterable<Uint8Array>): Promise<void> {
    this.begin(status, headers)
    try {
      for await (const chunk of chunks) {
        if (this.isGone) return
        if (!this.response.write(chunk)) await this.drained()
      }
      this.response.end()
    } catch (error) {
      httpErrorOf(error, this.#surroundings.log, this.#who())
      this.response.destroy()
    }
  }

  /** Resolves when what was written has gone out, or the client has gone. */
  drained(): Promise<void> {
    const { response } = this
    if (!response.writableNeedDrain || this.isGone) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#cutOffLater()
      const done = () => {
        cancel()
        response.off('drain', done).off('close', done)
        resolve()
      }
      response.on('drain', done).on('close', done)
    })
  }

  /** Answers with an error, whatever was thrown; or cuts off an answer that has begun. */
  fail(error: unknown): void {
    const { response } = this
    const httpError = httpErrorOf(error, this.#surroundings.log, this.#who())
    if (this.isGone) return
    if (response.headersSent) {
      response.destroy()
      return
    }
    const headers = [...httpError.headers, 'Content-Type', 'application/json', 'Cache-Control', 'no-store']
    const body = JSON.stringify(httpError.body)
    if (httpError.status === 413 && !this.request.complete) this.#refuseBody(httpError.status, headers, body)
    else this.respond(httpError.status, headers, body)
  }

  /** What the client still sends is not read into memory, and not for long either; then the connection (the stream) is closed. */
  #refuseBody(status: number, headers: readonly string[], body: string): void {
    const { request, response } = this
    const all = this.#allHeaders(headers)
    all.push('Content-Length', String(Buffer.byteLength(body)))
    if (!this.isHttp2) all.push('Connection', 'close')
    response.writeHead(status, all)
    response.write(body)
    this.#answered(status)
    const end = () => {
      cancel()
      response.end()
    }
    const cancel = this.#surroundings.clock.after(lingerMs, end)
    request.on('end', end).on('close', end)
    request.resume()
  }

  /** Unless the returned function is called before: a client that takes nothing for so long will not take anything any more. */
  #cutOffLater(): () => void {
    const { clock, settings } = this.#surroundings
    return clock.after(settings.stallTimeoutMs, () => this.response.destroy())
  }

  #allHeaders(headers: readonly string[]): string[] {
    const { cors, draining } = this.#surroundings
    const all = [...headers, ...cors.headersFor(this.request.headers)]
    if (draining.hasBegun && !this.isHttp2) all.push('Connection', 'close')
    return all
  }

  #answered(status: number): void {
    this.#surroundings.observer.requestAnswered(
      this.route,
      status,
      (this.#waitsSinceMs ?? performance.now()) - this.#beganMs,
    )
  }

  #who() {
    return { method: this.method, path: this.path }
  }
}

function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  const length = headers['content-length']
  // In HTTP/2 only a frame that has not come yet would tell.
  if (length === undefined) return httpVersionMajor === 2 || headers['transfer-encoding'] !== undefined
  return length !== '0'
}

/** Fastify's router is given another one: see http-server.ts. */
function originalUrl(request: IncomingMessage & { originalUrl?: string }): string {
  return request.originalUrl ?? request.url ?? ''
}

/** A request may name the whole URL (RFC 9112, 3.2.2): what counts is what follows the authority. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  return /^https?:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? target
}
