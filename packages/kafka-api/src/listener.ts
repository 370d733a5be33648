import { createServer, type Server, type Socket } from 'node:net'
import { BufferPool } from '@pico/binary'
import { FrameError } from '@pico/kafka-codec'
import { FrameReceiver } from './frame-receiver.ts'
import type { AnswerFrame, KafkaClient } from './handler.ts'
import type { RequestTaker } from './kafka-api.ts'
import { type KafkaObserver, type Logger, silentObserver } from './observer.ts'
import { Pipeline, type PipelineOutput } from './pipeline.ts'
import { moveToReceiveBuffer } from './receive-buffer.ts'

export interface ListenSettings {
  readonly host: string
  /** 0 picks a free one: see `KafkaListener.port`. */
  readonly port: number
  /** Largest request; a longer one closes its connection (Kafka's socket.request.max.bytes). */
  readonly requestBytesMax: number
  /** Connections at a time; one more is closed as soon as it is accepted (Kafka's max.connections). */
  readonly connectionsMax: number
  /** A connection over which nothing moves for so long, and that waits for nothing, is closed (connections.max.idle.ms). */
  readonly idleTimeoutMs: number
  /** Requests of one connection started and not answered; more are not read. */
  readonly requestsInFlightMax: number
  /** What one read takes at most: one such buffer for all connections. 0 leaves the reading to Node, which allocates for every read. */
  readonly receiveBufferBytes: number
}

export const defaultListenSettings: Omit<ListenSettings, 'host' | 'port'> = {
  requestBytesMax: 100 * 1024 * 1024,
  connectionsMax: 10_000,
  idleTimeoutMs: 10 * 60 * 1000,
  requestsInFlightMax: 256,
  receiveBufferBytes: 256 * 1024,
}

export interface ListenComponents {
  readonly api: RequestTaker
  readonly log: Logger
  readonly observer?: KafkaObserver
}

export interface KafkaListener {
  readonly host: string
  readonly port: number
  readonly connections: number
  /**
   * Accepts no more, answers waiting fetches, and lets requests at hand finish for up to `drainMs`; then ends every connection.
   */
  close(drainMs: number): Promise<void>
}

/** @throws the error of `listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENOTFOUND. */
export async function listenKafka(components: ListenComponents, settings: ListenSettings): Promise<KafkaListener> {
  const connections = new Set<Connection>()
  let opened = 0
  const refused = refusals(components, settings.connectionsMax)
  const receiving = { buffer: Buffer.allocUnsafeSlow(settings.receiveBufferBytes), memory: new BufferPool() }
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // Not the server's own maxConnections: it counts the wrappers that `moveToReceiveBuffer` drops.
    if (connections.size >= settings.connectionsMax) {
      socket.destroy()
      refused()
      return
    }
    const connection = new Connection(socket, ++opened, components, settings, receiving, () =>
      connections.delete(connection),
    )
    connections.add(connection)
  })
  await listen(server, settings)
  // Such as too many open files: the connection is lost, and only that one.
  server.on('error', (error) => components.log.error({ err: error }, 'a Kafka connection could not be accepted'))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : settings.port
  return {
    host: settings.host,
    port,
    get connections() {
      return connections.size
    },
    async close(drainMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      components.api.drain()
      await Promise.all([...connections].map((connection) => connection.drain(drainMs)))
      await closed
    },
  }
}

function listen(server: Server, { host, port }: ListenSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 511 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

const quietMs = 10_000

/** Who cannot connect has no other way to tell why, so the log says it; a client that tries again and again does not fill it. */
function refusals({ log, observer = silentObserver }: ListenComponents, connectionsMax: number): () => void {
  let lastToldMs = Number.NEGATIVE_INFINITY
  return () => {
    observer.connectionRefused()
    const nowMs = performance.now()
    if (nowMs - lastToldMs < quietMs) return
    lastToldMs = nowMs
    log.warn({ connectionsMax }, 'Kafka connections are refused: there are as many as may be')
  }
}

interface Receiving {
  readonly buffer: Buffer
  readonly memory: BufferPool
}

const nothing = new Uint8Array(0)

/** The socket's side of a pipeline: bytes in, frames out; backpressure both ways. */
class Connection implements PipelineOutput {
  readonly #socket: Socket
  readonly #log: Logger
  readonly #receiver: FrameReceiver
  readonly #pipeline: Pipeline
  readonly #gone = new AbortController()
  readonly #client: KafkaClient
  #isPaused = false
  #drained: (() => void) | undefined
  /** To be called when the answers that were written are in nobody's hands any more. */
  readonly #unsent = new Set<() => void>()

  constructor(
    accepted: Socket,
    connectionId: number,
    { api, log, observer = silentObserver }: ListenComponents,
    { requestBytesMax, requestsInFlightMax, idleTimeoutMs, receiveBufferBytes }: ListenSettings,
    receiving: Receiving,
    closed: () => void,
  ) {
    const received = (bytes: Buffer) => this.#received(bytes)
    const moved = receiveBufferBytes > 0 ? moveToReceiveBuffer(accepted, receiving.buffer, received) : null
    const socket = moved ?? accepted.on('data', received)
    this.#socket = socket
    this.#log = log
    this.#client = { connectionId, host: `/${socket.remoteAddress ?? ''}`, gone: this.#gone.signal }
    this.#receiver = new FrameReceiver(receiving.memory, requestBytesMax)
    this.#pipeline = new Pipeline(api, this.#client, this, { requestsInFlightMax, observer })
    observer.connectionOpened()
    socket.setNoDelay(true)
    socket.on('drain', () => this.#pipeline.resume())
    socket.on('error', (error) => log.debug({ ...this.#who(), err: error }, 'Kafka connection failed'))
    socket.setTimeout(idleTimeoutMs)
    socket.on('timeout', () => this.#idle())
    socket.on('close', () => {
      this.#pipeline.close()
      this.#receiver.close()
      for (const sent of this.#unsent) sent()
      this.#unsent.clear()
      this.#gone.abort()
      this.#drained?.()
      observer.connectionClosed()
      closed()
    })
    socket.resume() // it was accepted paused, so that nothing was read before we were ready
  }

  get isFull(): boolean {
    return this.#socket.writableNeedDrain
  }

  write(answers: readonly AnswerFrame[], sent: (() => void) | null): void {
    this.#socket.cork()
    for (const answer of answers) for (const buffer of answer) this.#socket.write(buffer)
    if (sent !== null) {
      this.#unsent.add(sent)
      // Of a write that failed the system may still hold some, until the socket is closed.
      this.#socket.write(nothing, (error) => {
        if (!error && this.#unsent.delete(sent)) sent()
      })
    }
    this.#socket.uncork()
    if (this.#drained !== undefined && this.#pipeline.unanswered === 0) this.#drained()
  }

  ready(): void {
    if (!this.#isPaused || this.#drained !== undefined) return
    this.#isPaused = false
    this.#socket.resume()
  }

  close(reason: string, level: 'debug' | 'warn' = 'debug'): void {
    this.#log[level]({ ...this.#who(), reason }, 'Kafka connection closed: the request cannot be answered')
    this.#socket.destroy()
  }

  crash(error: unknown): void {
    this.#log.error({ ...this.#who(), err: error }, 'Kafka connection closed because of a bug')
    this.#socket.destroy()
  }

  /** Reads no more; ends when what was received is answered, or after `drainMs`. */
  async drain(drainMs: number): Promise<void> {
    const finished = new Promise<void>((resolve) => {
      this.#drained = resolve
    })
    this.#socket.pause()
    if (this.#pipeline.unanswered > 0) {
      const timer = setTimeout(() => this.#drained?.(), drainMs)
      await finished
      clearTimeout(timer)
    }
    this.#socket.destroySoon()
  }

  #received(bytes: Buffer): void {
    try {
      this.#receiver.receive(bytes, (frame) => {
        this.#pipeline.push(frame)
        return !this.#socket.destroyed
      })
    } catch (error) {
      if (error instanceof FrameError) this.close(error.message)
      else this.crash(error)
      return
    }
    if (this.#pipeline.wantsInput || this.#isPaused) return
    this.#isPaused = true
    this.#socket.pause()
  }

  /** A parked fetch or a produce request under way is not idleness; a peer that does not read what was written is. */
  #idle(): void {
    if (this.#pipeline.unanswered > 0 && this.#socket.writableLength === 0) return
    this.#log.debug(this.#who(), 'Kafka connection closed: idle')
    this.#socket.destroy()
  }

  #who() {
    return { connection: this.#client.connectionId, peer: this.#client.host }
  }
}
