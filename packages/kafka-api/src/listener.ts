import { createServer, type Server, type Socket } from 'node:net'
import { FrameError, FrameSplitter } from '@pico/kafka-codec'
import type { AnswerFrame, KafkaClient } from './handler.ts'
import type { KafkaApi } from './kafka-api.ts'
import { type KafkaObserver, type Logger, silentObserver } from './observer.ts'
import { Pipeline, type PipelineOutput } from './pipeline.ts'

export interface ListenSettings {
  readonly host: string
  /** 0 picks a free one: see `KafkaListener.port`. */
  readonly port: number
  /** Largest request; a longer one closes its connection (Kafka's socket.request.max.bytes). */
  readonly requestBytesMax: number
  /** A connection over which nothing moves for so long, and that waits for nothing, is closed (connections.max.idle.ms). */
  readonly idleTimeoutMs: number
  /** Requests of one connection started and not answered; more are not read. */
  readonly requestsInFlightMax: number
}

export const defaultListenSettings: Omit<ListenSettings, 'host' | 'port'> = {
  requestBytesMax: 100 * 1024 * 1024,
  idleTimeoutMs: 10 * 60 * 1000,
  requestsInFlightMax: 256,
}

export interface ListenComponents {
  readonly api: KafkaApi
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
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = new Connection(socket, ++opened, components, settings, () => connections.delete(connection))
    connections.add(connection)
  })
  await listen(server, settings)
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

/** The socket's side of a pipeline: bytes in, frames out; backpressure both ways. */
class Connection implements PipelineOutput {
  readonly #socket: Socket
  readonly #log: Logger
  readonly #splitter: FrameSplitter
  readonly #pipeline: Pipeline
  readonly #gone = new AbortController()
  readonly #client: KafkaClient
  #drained: (() => void) | undefined

  constructor(
    socket: Socket,
    connectionId: number,
    { api, log, observer = silentObserver }: ListenComponents,
    { requestBytesMax, requestsInFlightMax, idleTimeoutMs }: ListenSettings,
    closed: () => void,
  ) {
    this.#socket = socket
    this.#log = log
    this.#client = { connectionId, host: `/${socket.remoteAddress ?? ''}`, gone: this.#gone.signal }
    this.#splitter = new FrameSplitter({ maxFrameBytes: requestBytesMax })
    this.#pipeline = new Pipeline(api, this.#client, this, { requestsInFlightMax, observer })
    observer.connectionOpened()
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
    socket.on('drain', () => this.#pipeline.resume())
    socket.on('error', (error) => log.debug({ ...this.#who(), err: error }, 'Kafka connection failed'))
    socket.setTimeout(idleTimeoutMs)
    socket.on('timeout', () => this.#idle())
    socket.on('close', () => {
      this.#pipeline.close()
      this.#gone.abort()
      this.#drained?.()
      observer.connectionClosed()
      closed()
    })
  }

  get isFull(): boolean {
    return this.#socket.writableNeedDrain
  }

  write(answers: readonly AnswerFrame[]): void {
    this.#socket.cork()
    for (const answer of answers) for (const buffer of answer) this.#socket.write(buffer)
    this.#socket.uncork()
    if (this.#drained !== undefined && this.#pipeline.unanswered === 0) this.#drained()
  }

  ready(): void {
    if (this.#drained === undefined) this.#socket.resume()
  }

  close(reason: string): void {
    this.#log.debug({ ...this.#who(), reason }, 'Kafka connection closed: the request cannot be answered')
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

  #received(chunk: Buffer): void {
    let frames: Uint8Array[]
    try {
      frames = this.#splitter.push(chunk)
    } catch (error) {
      if (error instanceof FrameError) this.close(error.message)
      else this.crash(error)
      return
    }
    for (const bytes of frames) {
      if (this.#socket.destroyed) return
      this.#pipeline.push({ bytes, release: null })
    }
    if (!this.#pipeline.wantsInput) this.#socket.pause()
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
