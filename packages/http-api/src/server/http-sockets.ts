import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { refuseExpectation } from './broken-requests.ts'
import type { HttpObserver } from './observer.ts'
import { ProtocolDetection } from './protocol-detection.ts'
import type { HttpServerSettings } from './settings.ts'
import type { Clock, Logger } from './surroundings.ts'

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/** The listening socket and its connections: HTTP/1.1 and cleartext HTTP/2 on one port. */
export class HttpSockets {
  readonly #log: Logger
  readonly #observer: HttpObserver
  readonly #settings: HttpServerSettings
  readonly #detection: ProtocolDetection
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #sockets = new Set<Socket>()
  #http1: Server | null = null
  #http2: Http2Server | null = null

  constructor(log: Logger, observer: HttpObserver, settings: HttpServerSettings) {
    this.#log = log
    this.#observer = observer
    this.#settings = settings
    const protocols = {
      serveHttp1: (socket: Socket) => void this.#serveHttp1(socket),
      serveHttp2: (socket: Socket) => void this.#http2?.emit('connection', socket),
    }
    this.#detection = new ProtocolDetection(protocols, settings.requestTimeoutMs)
  }

  /** What a connection of HTTP/1.1 is given to. */
  #serveHttp1: (socket: Socket) => void = (socket) => socket.destroy()

  get connections(): number {
    return this.#sockets.size
  }

  get port(): number {
    const address = this.#http1?.address()
    return typeof address === 'object' && address !== null ? address.port : this.#settings.port
  }

  /** The server of HTTP/1.1, which is the one that listens. */
  attach(handler: RequestHandler): Server {
    const { headerBytesMax, headersMax, requestTimeoutMs, keepAliveTimeoutMs, http2StreamsMax } = this.#settings
    const http1 = createServer(
      {
        maxHeaderSize: headerBytesMax,
        requestTimeout: requestTimeoutMs,
        headersTimeout: requestTimeoutMs,
        keepAliveTimeout: keepAliveTimeoutMs,
        connectionsCheckingInterval: Math.min(5000, Math.max(100, requestTimeoutMs / 4)),
        noDelay: true,
        // Without a Host a request is refused as any other bad one is, see http-server.ts.
        requireHostHeader: false,
      },
      handler,
    )
    // Node drops what is above without a word: so that one too many shows.
    http1.maxHeadersCount = headersMax + 1
    http1.on('checkExpectation', refuseExpectation)
    // Its own listener takes every connection for HTTP/1.1: those that are come to it in the end.
    const [serve] = http1.listeners('connection') as [(this: Server, socket: Socket) => void]
    http1.removeAllListeners('connection')
    this.#serveHttp1 = (socket) => serve.call(http1, socket)
    http1.on('connection', (socket: Socket) => this.#accept(socket))

    const http2 = createHttp2Server({
      maxHeaderListPairs: headersMax + 8,
      settings: { maxConcurrentStreams: http2StreamsMax, maxHeaderListSize: headerBytesMax },
    })
    http2.on('request', (request, response) =>
      // Node's compatibility API: they behave like those of HTTP/1.1 in all that we use.
      handler(request as unknown as IncomingMessage, response as unknown as ServerResponse),
    )
    http2.on('session', (session) => this.#opened(session))
    this.#http1 = http1
    this.#http2 = http2
    return http1
  }

  listen(): Promise<void> {
    const { host, port } = this.#settings
    const server = this.#http1
    if (server === null) throw new Error('no server was attached')
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, backlog: 1024 }, () => {
        server.off('error', reject)
        // Such as too many open files: the connection is lost, and only that one.
        server.on('error', (error) => this.#log.error({ err: error }, 'an HTTP connection could not be accepted'))
        resolve()
      })
    })
  }

  /** Takes no connection from now on; resolves when all have ended, which they have after `drainMs`. */
  async close(drainMs: number, clock: Clock): Promise<void> {
    const server = this.#http1
    if (server === null) return
    // Node closes the idle ones at once, and waits for the others.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    this.#detection.closeUndecided()
    for (const session of this.#sessions) session.close()
    const cancel = clock.after(drainMs, () => {
      for (const socket of this.#sockets) socket.destroy()
    })
    await closed
    cancel()
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    this.#observer.connectionOpened()
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#observer.connectionClosed()
    })
    this.#detection.accept(socket)
  }

  #opened(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.on('close', () => this.#sessions.delete(session))
    session.on('error', (error) => this.#log.debug({ err: error }, 'an HTTP/2 connection failed'))
    // Lets streams that are open finish.
    session.setTimeout(this.#settings.keepAliveTimeoutMs, () => session.close())
  }
}
