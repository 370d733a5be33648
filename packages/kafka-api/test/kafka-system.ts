import { zeroUuid } from '@pico/binary'
import {
  type Api,
  createTopics,
  decodeResponse,
  type Fields,
  fetch,
  listOffsets,
  produce,
  type StructInput,
  type StructOf,
} from '@pico/kafka-codec'
import { type Log, type LogSettings, openLog } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { BatchBuilder, type BatchBuilderSettings, batches, type RecordInput, records } from '@pico/record-batch'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { type FaultInjection, withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, recordBatchEntries, type Streams, type StreamsSettings } from '@pico/streams'
import {
  createKafkaApi,
  defaultKafkaApiSettings,
  type KafkaApi,
  type KafkaApiSettings,
  type KafkaClient,
  type KafkaObserver,
} from '../src/index.ts'
import { collectedLog } from './collected-log.ts'
import { PrefixJudge } from './prefix-judge.ts'
import { TestClock } from './test-clock.ts'
import { requestBytes } from './wire-client.ts'

export interface SystemSettings {
  readonly api?: Partial<KafkaApiSettings>
  readonly streams?: Partial<StreamsSettings>
  readonly log?: Partial<LogSettings>
  readonly observer?: Pick<KafkaObserver, 'errorAnswered'>
}

const hourMs = 3_600_000

/** The whole broker without a socket: handlers, streams and log over a memory store and a database in memory. */
export class KafkaSystem {
  readonly clock = new TestClock()
  readonly schemas: PrefixJudge
  readonly log = collectedLog()
  readonly store: ObjectStore & SegmentStore & FaultInjection = withFaults(openMemoryStore())
  readonly #metadata: Metadata
  #engine!: Log
  #streams!: Streams
  #api!: KafkaApi
  #correlationId = 0

  private constructor(metadata: Metadata) {
    this.#metadata = metadata
    this.schemas = new PrefixJudge(metadata)
  }

  static async open(settings: SystemSettings = {}): Promise<KafkaSystem> {
    const system = new KafkaSystem(await openSqliteMetadata({ path: ':memory:' }))
    await system.start(settings)
    return system
  }

  /** A new run of the node over the same data; the one before is left as a dead process leaves it. */
  async start(settings: SystemSettings = {}): Promise<void> {
    const { clock, store, schemas } = this
    const metadata = this.#metadata
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
    this.#engine = await openLog(
      { store, wal: { kind: 'local', store }, metadata, node, clock, format: recordBatchEntries },
      {
        segmentBytes: 1 << 21,
        packIntervalMs: hourMs,
        maintenanceIntervalMs: hourMs,
        idleStreamMs: hourMs,
        ...settings.log,
      },
    )
    this.#streams = await openStreams(
      { log: this.#engine, metadata, node, clusterId: 'test', clock, schemas },
      settings.streams,
    )
    this.#api = createKafkaApi(
      {
        streams: this.#streams,
        schemas,
        cluster: { brokers: () => [{ nodeId: 1, host: 'broker.test', port: 9092, rack: null }] },
        clock,
        log: this.log,
        ...(settings.observer === undefined ? {} : { observer: settings.observer }),
      },
      { ...defaultKafkaApiSettings, ...settings.api },
    )
  }

  get api(): KafkaApi {
    return this.#api
  }

  get streams(): Streams {
    return this.#streams
  }

  /** A request through bytes and back, as a client would see it. @throws where a connection would be closed */
  async call<Q extends Fields, A extends Fields>(
    api: Api<Q, A>,
    version: number,
    body: StructInput<Q>,
    gone: AbortSignal = new AbortController().signal,
  ): Promise<StructOf<A>> {
    const bytes = await this.send(requestBytes(api, version, body, ++this.#correlationId).subarray(4), gone)
    if (bytes === null) throw new Error('the request has no answer')
    return decodeResponse(api, version, bytes.subarray(4)).body
  }

  send(frame: Uint8Array, gone: AbortSignal = new AbortController().signal): Promise<Uint8Array | null> {
    const client: KafkaClient = { connectionId: 1, host: '/127.0.0.1', gone }
    return this.#api.handle(frame, client)
  }

  async createTopic(name: string, config: Record<string, string> = {}): Promise<string> {
    const { topics } = await this.call(createTopics, 7, createRequest({ name, config }))
    if (topics[0]?.errorCode !== 0) throw new Error(`no topic ${name}: ${topics[0]?.errorMessage}`)
    return topics[0].topicId
  }

  async produce(
    topic: string,
    batch: Uint8Array | null,
    settings: { version?: number; acks?: number; transactionalId?: string } = {},
  ) {
    const { version = 12, acks = -1, transactionalId = null } = settings
    const request = { transactionalId, ...produceRequest(topic, batch, acks) }
    const { responses } = await this.call(produce, version, request)
    return responses[0]!.partitionResponses[0]!
  }

  async fetch(topic: string, offset: number, settings: FetchSettings = {}) {
    const { responses } = await this.call(fetch, settings.version ?? 12, fetchRequest([{ topic, offset }], settings))
    return responses[0]!.partitions[0]!
  }

  async listOffset(topic: string, timestamp: number, version = 11) {
    const partitions = [{ partitionIndex: 0, timestamp: BigInt(timestamp) }]
    const { topics } = await this.call(listOffsets, version, {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name: topic, partitions }],
      timeoutMs: 0,
    })
    return topics[0]!.partitions[0]!
  }

  /** Flushes wait until `store.heal()`. */
  holdFlushes(): void {
    this.store.inject({ operation: 'write', fault: { kind: 'hang' } })
  }

  failFlushes(): void {
    this.store.inject({ operation: 'write', fault: { kind: 'fail-before', code: 'ENOSPC' } })
  }

  get errors() {
    return this.log.lines.filter(({ level }) => level === 'error')
  }

  async close(): Promise<void> {
    this.store.heal()
    await this.#streams.close()
    await this.#engine.close()
    await this.#metadata.close()
  }
}

export interface FetchSettings {
  readonly version?: number
  readonly minBytes?: number
  readonly maxBytes?: number
  readonly maxWaitMs?: number
  readonly partitionMaxBytes?: number
  readonly currentLeaderEpoch?: number
  readonly isolationLevel?: number
  readonly sessionId?: number
  readonly sessionEpoch?: number
  readonly replicaId?: number
}

export interface FetchWanted {
  readonly topic?: string
  readonly topicId?: string
  readonly offset: number | bigint
  readonly partition?: number
}

export function fetchRequest(wanted: readonly FetchWanted[], settings: FetchSettings = {}) {
  const { version = 12, minBytes = 1, maxBytes = 1 << 20, maxWaitMs = 0, partitionMaxBytes = 1 << 20 } = settings
  const { currentLeaderEpoch = -1, isolationLevel = 0, sessionId = 0, sessionEpoch = -1, replicaId = -1 } = settings
  return {
    ...(version >= 15 ? { replicaState: { replicaId, replicaEpoch: -1n } } : { replicaId }),
    maxWaitMs,
    minBytes,
    maxBytes,
    isolationLevel,
    sessionId,
    sessionEpoch,
    topics: wanted.map(({ topic = '', topicId = zeroUuid, offset, partition = 0 }) => ({
      topic,
      topicId,
      partitions: [
        { partition, currentLeaderEpoch, fetchOffset: BigInt(offset), partitionMaxBytes, replicaDirectoryId: zeroUuid },
      ],
    })),
    forgottenTopicsData: [],
  }
}

export function produceRequest(topic: string, records: Uint8Array | null, acks = -1, timeoutMs = 30_000) {
  return { acks, timeoutMs, topicData: [{ name: topic, topicId: zeroUuid, partitionData: [{ index: 0, records }] }] }
}

export function createRequest(topic: {
  name: string
  partitions?: number
  replicationFactor?: number
  config?: Record<string, string | null>
  validateOnly?: boolean
}) {
  const { name, partitions = -1, replicationFactor = -1, config = {}, validateOnly = false } = topic
  const configs = Object.entries(config).map(([name, value]) => ({ name, value }))
  return {
    topics: [{ name, numPartitions: partitions, replicationFactor, assignments: [], configs }],
    timeoutMs: 1000,
    validateOnly,
  }
}

export function batchOf(values: readonly (string | RecordInput)[], settings: BatchBuilderSettings = {}): Buffer {
  const builder = new BatchBuilder(settings)
  for (const value of values)
    builder.append(typeof value === 'string' ? { value, timestamp: 1_700_000_000_000 } : value)
  return Buffer.from(builder.build())
}

/** What a consumer would take from fetched bytes: offset and value of each record. */
export async function readValues(bytes: Uint8Array | null): Promise<[offset: number, value: string][]> {
  const found: [number, string][] = []
  for (const batch of batches(bytes ?? new Uint8Array(0))) {
    for (const record of records(batch)) found.push([record.offset, Buffer.from(record.value ?? []).toString()])
  }
  return found
}
