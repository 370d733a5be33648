import { type Log, openLog, systemClock } from '@pico/log'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { BatchBuilder } from '@pico/record-batch'
import { openMemoryStore } from '@pico/storage/memory'
import { joinAlone, joinCluster, type Membership, openStreams, recordBatchEntries, type Streams } from '@pico/streams'
import {
  type AdminBackend,
  createServerMetrics,
  type GroupView,
  type HttpListener,
  type Logger,
  listenAdmin,
  openApiDocument,
  Readiness,
  type ServerMetrics,
} from '../../src/index.ts'

export interface JsonAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came
  readonly body: any
}

/** The admin listener over real streams: a store and a database in memory. */
export class AdminSystem {
  readonly readiness = new Readiness(systemClock, { probeDeadlineMs: 200, probeFreshMs: 50 })
  readonly errors: unknown[] = []
  readonly metrics: ServerMetrics = createServerMetrics({
    version: '1.2.3',
    nodeId: 1,
    isServing: () => this.readiness.state === 'serving',
  })
  groups: GroupView | null = null
  #backend: AdminBackend | null = null
  #metadata!: Metadata
  #membership!: Membership
  #engine!: Log
  #streams!: Streams
  #listener!: HttpListener

  static async listen(): Promise<AdminSystem> {
    const system = new AdminSystem()
    const log: Logger = {
      debug() {},
      info() {},
      warn() {},
      error: (fields) => system.errors.push(fields),
    }
    system.#listener = await listenAdmin(
      {
        clock: systemClock,
        log,
        readiness: system.readiness,
        metrics: system.metrics,
        backend: () => system.#backend,
        openapi: () => openApiDocument({ version: '1.2.3', adminUrl: system.url, picoUrl: null }),
      },
      { host: '127.0.0.1', port: 0 },
    )
    return system
  }

  /** What is below, as a server opens it: alone with its database, or as one of several nodes. */
  async start(kind: 'alone' | 'cluster' = 'alone'): Promise<void> {
    const store = openMemoryStore()
    const metadata = await openSqliteMetadata({ path: ':memory:' })
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, Date.now())
    const parts = { metadata, node, clock: systemClock }
    const membership = await (kind === 'alone'
      ? joinAlone(parts)
      : joinCluster(parts, { heartbeatMs: 50, ttlMs: 600_000 }))
    const wal = { kind: kind === 'alone' ? 'local' : 'shared', store } as const
    const engine = await openLog({ ...parts, store, wal, format: recordBatchEntries }, { segmentBytes: 1 << 20 })
    const streams = await openStreams(
      { ...parts, log: engine, membership, clusterId: 'test' },
      { partitionsMax: 4, pollMs: 50 },
    )
    this.#metadata = metadata
    this.#membership = membership
    this.#engine = engine
    this.#streams = streams
    this.metrics.watchLog(engine)
    this.#backend = {
      node,
      streams,
      directory: metadata,
      advertisedAddress: 'http://127.0.0.1:4437',
      kafkaAddress: null,
      groups: this.groups,
      isAlone: kind === 'alone',
      isFenced: () => membership.isOver,
    }
    this.readiness.become('serving')
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.port}`
  }

  get streams(): Streams {
    return this.#streams
  }

  get metadata(): Metadata {
    return this.#metadata
  }

  get membership(): Membership {
    return this.#membership
  }

  /** The run that answers. */
  get node(): NodeIdentity {
    return this.#membership.node
  }

  get(path: string, method = 'GET'): Promise<JsonAnswer> {
    return this.ask(path, { method })
  }

  post(path: string, body: unknown): Promise<JsonAnswer> {
    const headers = { 'content-type': 'application/json' }
    return this.ask(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
  }

  async ask(path: string, request: RequestInit): Promise<JsonAnswer> {
    const answer = await fetch(this.url + path, request)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson === true && text !== '' ? JSON.parse(text) : text,
    }
  }

  async createTopic(name: string, partitions = 1): Promise<void> {
    const { refused } = await this.#streams.createTopic({ name, partitions, config: {}, validateOnly: false })
    if (refused !== undefined) throw new Error(refused.kind)
  }

  async append(topic: string, records: number): Promise<void> {
    const partition = await this.#streams.partition({ name: topic }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    const builder = new BatchBuilder()
    for (let at = 0; at < records; at++) builder.append({ value: `record ${at}`, timestamp: 1_700_000_000_000 })
    const { accepted } = partition.append(builder.build(), { zstdAllowed: true })
    await accepted?.committed
  }

  async createStream(name: string, settings: { contentType?: string; ttlSeconds?: number } = {}): Promise<void> {
    const { contentType = 'text/plain', ttlSeconds } = settings
    const outcome = await this.#streams.paths.create({
      name,
      contentType,
      config: ttlSeconds === undefined ? {} : { 'retention.ms': String(ttlSeconds * 1000) },
      expiry: { kind: 'never' },
      closed: false,
      records: [],
      matches: () => true,
    })
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
  }

  async close(): Promise<void> {
    await this.#listener.close(0)
    if (this.#backend === null) return
    await this.#streams.close()
    await this.#engine.close()
    if (!this.#membership.isOver) await this.#membership.leave()
    await this.#metadata.close()
  }
}
