import { openLog, systemClock } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openSchemaRegistry, type SchemaRegistry, type SchemaWorkers, startSchemaWorkers } from '@pico/schema-registry'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, recordBatchEntries } from '@pico/streams'
import { afterAll, onTestFinished } from 'vitest'
import { defaultHttpSettings, listenHttp, listenSchemaRegistry } from '../../src/index.ts'

export interface SchemaSystem {
  readonly metadata: Metadata
  readonly registry: SchemaRegistry
  /** Of the listener of the Pico protocol. */
  readonly url: string
  /** Of that of Confluent's. */
  readonly confluentUrl: string
  /** Asks the one whose URL begins so; a body that is no text is sent in JSON. */
  ask(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what it is the test says
  readonly json: any
}

/** Everything below HTTP in memory, with a registry, behind listeners of both protocols; closed when the test is over. */
export async function openedSchemaSystem(): Promise<SchemaSystem> {
  const store = openMemoryStore()
  const clock = systemClock
  const metadata = await openSqliteMetadata({ path: ':memory:' })
  const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
  const engine = await openLog({
    store,
    wal: { kind: 'local', store },
    metadata,
    node,
    clock,
    format: recordBatchEntries,
  })
  shared ??= startSchemaWorkers({ workers: 1, deadlineMs: 2000, heapMb: 128, workerUrl })
  const workers = { ...shared, close: async () => {} }
  const registry = openSchemaRegistry({ catalog: metadata.schemas, startWorkers: () => workers, nowMs: () => 1234 })
  const streams = await openStreams({ log: engine, metadata, node, clusterId: 'c', clock, schemas: registry }, {})
  const lines: string[] = []
  const log = {
    debug() {},
    info() {},
    warn: (_: object, text: string) => lines.push(text),
    error: (_: object, text: string) => lines.push(text),
  }
  const where = { host: '127.0.0.1', port: 0 }
  const listener = await listenHttp(
    { streams, schemas: registry, registry, clock, log },
    { ...defaultHttpSettings, ...where },
  )
  const confluent = await listenSchemaRegistry({ registry, clock, log }, where)
  onTestFinished(async () => {
    await listener.close(0)
    await confluent.close(0)
    await streams.close()
    await engine.close()
    await registry.close()
    await metadata.close()
  })
  return {
    metadata,
    registry,
    url: `http://127.0.0.1:${listener.port}`,
    confluentUrl: `http://127.0.0.1:${confluent.port}`,
    ask,
  }
}

// Threads take long to start: all tests of a file have the same.
let shared: SchemaWorkers | null = null
const workerUrl = new URL('../../../schema-registry/src/worker.ts', import.meta.url)
afterAll(() => shared?.close())

async function ask(method: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const isText = typeof body === 'string' || body === undefined
  const type = isText ? {} : { 'content-type': 'application/vnd.schemaregistry.v1+json' }
  const answer = await fetch(url, {
    method,
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== ''
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined }
}
