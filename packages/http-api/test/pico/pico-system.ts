import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { errorBodySchema, type JsonReadRecord, jsonReadSchema } from '@pico/http-contract'
import { type Log, type LogSettings, openLog, systemClock } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { type FaultInjection, withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, type PathStream, recordBatchEntries, type Streams } from '@pico/streams'
import { expect } from 'vitest'
import { defaultHttpSettings, type HttpListener, type HttpSettings, listenHttp } from '../../src/index.ts'
import { PrefixJudge } from '../prefix-judge.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Uint8Array
}

export interface LogLine {
  readonly level: 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

/** The whole system in memory, behind a real listener of the Pico protocol. */
export class PicoSystem {
  readonly store: ObjectStore & SegmentStore & FaultInjection = withFaults(openMemoryStore())
  readonly lines: LogLine[] = []
  readonly schemas: PrefixJudge
  readonly #metadata: Metadata
  readonly #logSettings: Partial<LogSettings>
  readonly #agent = new Agent({ keepAlive: true })
  #log!: Log
  #streams!: Streams
  #listener!: HttpListener
  liveReaders = 0

  private constructor(metadata: Metadata, logSettings: Partial<LogSettings>) {
    this.#metadata = metadata
    this.schemas = new PrefixJudge(metadata)
    this.#logSettings = logSettings
  }

  static async open(settings: Partial<HttpSettings> = {}, logSettings: Partial<LogSettings> = {}): Promise<PicoSystem> {
    const system = new PicoSystem(await openSqliteMetadata({ path: ':memory:' }), logSettings)
    await system.#start(settings)
    return system
  }

  async #start(settings: Partial<HttpSettings>): Promise<void> {
    const { store, schemas } = this
    const clock = systemClock
    const metadata = this.#metadata
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
    this.#log = await openLog(
      { store, wal: { kind: 'local', store }, metadata, node, clock, format: recordBatchEntries },
      { segmentBytes: 1 << 23, ...this.#logSettings },
    )
    const clusterId = await metadata.nodes.clusterId()
    this.#streams = await openStreams({ log: this.#log, metadata, node, clusterId, clock, schemas }, {})
    const at = (level: LogLine['level']) => (fields: object, message: string) =>
      void this.lines.push({ level, fields, message })
    this.#listener = await listenHttp(
      {
        streams: this.#streams,
        schemas,
        clock,
        log: { debug() {}, info() {}, warn: at('warn'), error: at('error') },
        observer: {
          connectionOpened() {},
          connectionClosed() {},
          requestAnswered() {},
          liveReaderOpened: () => void this.liveReaders++,
          liveReaderClosed: () => void this.liveReaders--,
        },
      },
      { ...defaultHttpSettings, host: '127.0.0.1', port: 0, longPollTimeoutMs: 500, ...settings },
    )
  }

  /** A new run of the node over the same data, after an orderly end. */
  async restart(settings: Partial<HttpSettings> = {}): Promise<void> {
    await this.#stop()
    await this.#start(settings)
  }

  get streams(): Streams {
    return this.#streams
  }

  /** What was handed to the log and is not durable yet. */
  get unflushedBytes(): number {
    return this.#log.stats.unflushedBytes
  }

  get listener(): HttpListener {
    return this.#listener
  }

  get port(): number {
    return this.#listener.port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get errors(): LogLine[] {
    return this.lines.filter(({ level }) => level === 'error')
  }

  /** The path goes out as it is. */
  send(method: string, path: string, { headers = {}, body }: Sending = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.port, agent: this.#agent, method, path, headers },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers as Answer['headers'],
              body: Buffer.concat(chunks),
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  create(path: string, headers: Record<string, string> = {}, body?: string | Uint8Array): Promise<Answer> {
    return this.send('PUT', path, { headers, ...(body === undefined ? {} : { body }) })
  }

  append(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, { headers, body })
  }

  get(pathAndQuery: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', pathAndQuery, { headers })
  }

  async records(pathAndQuery: string): Promise<JsonReadRecord[]> {
    const answer = await this.get(pathAndQuery)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json'])
    return jsonReadSchema.parse(JSON.parse(answer.body.toString()))
  }

  async stream(name: string): Promise<PathStream> {
    const stream = await this.#streams.paths.open(name)
    if (typeof stream === 'string' || 'kind' in stream) throw new Error(`no stream ${name}: ${JSON.stringify(stream)}`)
    return stream
  }

  /** Bytes to the port, and what comes back until the server closes the connection or `isEnough`. */
  raw(bytes: string | Uint8Array, isEnough: (received: string) => boolean = () => false): Promise<string> {
    return new Promise((resolve, reject) => {
      let received = ''
      const socket = connect(this.port, '127.0.0.1', () => socket.write(bytes))
      socket.setEncoding('latin1')
      socket.on('data', (text) => {
        received += text
        if (isEnough(received)) socket.destroy()
      })
      // Whoever is cut off while still sending has the answer nevertheless.
      socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
      socket.on('close', () => resolve(received))
    })
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    await this.#stop()
    await this.#metadata.close()
  }

  async #stop(): Promise<void> {
    this.store.heal()
    await this.#listener.close(0)
    await this.#streams.close()
    await this.#log.close()
  }
}

/** The body of an error, which has the form that all errors have. */
export function errorOf(answer: Answer) {
  expect(answer.headers['content-type']).toBe('application/json')
  return errorBodySchema.strict().parse(JSON.parse(answer.body.toString()))
}

/** Those Pico headers that an answer has. */
export function picoHeadersOf(answer: Answer): Record<string, string> {
  const entries = Object.entries(answer.headers).filter(([name]) => name.startsWith('pico-'))
  return Object.fromEntries(entries) as Record<string, string>
}
