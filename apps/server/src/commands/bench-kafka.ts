import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { createTopics, deleteTopics, fetch, kafkaErrorOf, kafkaErrors, metadata, produce } from '@pico/kafka-codec'
import { BatchBuilder, batches, records as recordsOf } from '@pico/record-batch'
import { formatHostPort, type HostPort } from '../host-port.ts'
import type { BenchPage, BenchStream, BenchTarget, TargetSettings } from './bench-target.ts'
import { CommandFailure } from './command-failure.ts'
import { KafkaConnection } from './kafka-connection.ts'

/** Versions that every broker from Kafka 2.4 on serves. */
const versions = { createTopics: 5, deleteTopics: 4, metadata: 9, produce: 8, fetch: 11 }
const timeoutMs = 30_000
/** A topic that was just made has no leader for a moment, or one that does not know of it yet. */
const leaderDueMs = 10_000

/** Topics of one partition on any Kafka broker: a batch of one request is built once and sent again and again, acknowledged by all. */
export function kafkaTarget(bootstrap: HostPort, settings: TargetSettings): BenchTarget {
  const brokers = new Brokers(settings.connectionsMax ?? Number.POSITIVE_INFINITY)
  const batch = batchOf(settings.records)
  // A slash is not for topics.
  const topics = settings.names.map((name) => new BenchTopic(name.replaceAll('/', '.'), batch, brokers))
  return {
    where: { kafka: formatHostPort(bootstrap) },
    streams: topics,
    async create(signal) {
      const connection = await brokers.connection(bootstrap, signal)
      const answer = await connection.ask(createTopics, versions.createTopics, {
        topics: topics.map(({ name }) => ({
          name,
          numPartitions: 1,
          replicationFactor: -1,
          assignments: [],
          configs: [],
        })),
        timeoutMs,
        validateOnly: false,
      })
      for (const { name, errorCode } of answer.topics) refuse(`creating ${name}`, errorCode)
      for (const topic of topics) await topic.awaitLeader(connection, signal)
    },
    async [Symbol.asyncDispose]() {
      const topicNames = topics.map(({ name }) => name)
      const deleted = brokers
        .connection(bootstrap, AbortSignal.timeout(5000))
        .then((connection) =>
          connection.ask(deleteTopics, versions.deleteTopics, { topicNames, topics: [], timeoutMs }),
        )
      // As over HTTP: a broker that cannot be reached has been reported already.
      await Promise.allSettled([deleted])
      brokers.close()
    },
  }
}

class BenchTopic implements BenchStream {
  readonly name: string
  #leader: HostPort | undefined
  readonly #batch: Uint8Array
  readonly #brokers: Brokers

  constructor(name: string, batch: Uint8Array, brokers: Brokers) {
    this.name = name
    this.#batch = batch
    this.#brokers = brokers
  }

  /** @throws CommandFailure where there is none in time that serves it */
  async awaitLeader(bootstrap: KafkaConnection, signal: AbortSignal): Promise<void> {
    const dueAtMs = performance.now() + leaderDueMs
    for (;;) {
      this.#leader = await leaderOf(bootstrap, this.name)
      const served = this.#leader && (await this.#fetch(0, signal))
      const errorCode = served === undefined ? kafkaErrors.leaderNotAvailable.code : served.errorCode
      if (kafkaErrorOf(errorCode)?.retriable !== true || performance.now() > dueAtMs) {
        return refuse(`a first fetch of ${this.name}`, errorCode)
      }
      await sleep(50, undefined, { signal })
    }
  }

  async append(): Promise<void> {
    const connection = await this.#connection()
    const answer = await connection.ask(produce, versions.produce, {
      transactionalId: null,
      acks: -1,
      timeoutMs,
      topicData: [{ name: this.name, topicId: zeroUuid, partitionData: [{ index: 0, records: this.#batch }] }],
    })
    refuse(`an append to ${this.name}`, answer.responses[0]?.partitionResponses[0]?.errorCode)
  }

  async *pages(signal: AbortSignal): AsyncGenerator<BenchPage> {
    for (let offset = 0; ; ) {
      signal.throwIfAborted()
      const partition = await this.#fetch(offset, signal)
      refuse(`a fetch of ${this.name}`, partition?.errorCode)
      let [records, bytes] = [0, 0]
      for (const batch of batches(partition?.records ?? new Uint8Array(0))) {
        for (const { value } of recordsOf(batch)) {
          records += 1
          bytes += value?.length ?? 0
        }
        offset = batch.lastOffset + 1
      }
      if (records > 0) yield { records, bytes }
      if (offset >= Number(partition?.highWatermark ?? 0n)) return
    }
  }

  async #fetch(offset: number, signal: AbortSignal) {
    const connection = await this.#connection(signal)
    const answer = await connection.ask(fetch, versions.fetch, {
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: 8 * 1024 * 1024,
      sessionEpoch: -1,
      topics: [
        {
          topic: this.name,
          topicId: zeroUuid,
          partitions: [{ partition: 0, fetchOffset: BigInt(offset), partitionMaxBytes: 4 * 1024 * 1024 }],
        },
      ],
      forgottenTopicsData: [],
    })
    return answer.responses[0]?.partitions[0]
  }

  #connection(signal?: AbortSignal): Promise<KafkaConnection> {
    if (this.#leader === undefined) throw new Error('a topic is made before it is used')
    return this.#brokers.connection(this.#leader, signal)
  }
}

/** Connections to brokers by their addresses: a new one while none is free and there are fewer than may be. */
class Brokers {
  readonly #connectionsMax: number
  readonly #connections = new Map<string, KafkaConnection[]>()
  readonly #opening = new Map<string, number>()

  constructor(connectionsMax: number) {
    this.#connectionsMax = connectionsMax
  }

  async connection(address: HostPort, signal = new AbortController().signal): Promise<KafkaConnection> {
    const key = formatHostPort(address)
    const open = this.#connections.get(key) ?? []
    this.#connections.set(key, open)
    const idlest = open.reduce<KafkaConnection | undefined>(
      (least, each) => (least === undefined || each.pending < least.pending ? each : least),
      undefined,
    )
    const opening = this.#opening.get(key) ?? 0
    if (idlest !== undefined && (idlest.pending === 0 || open.length + opening >= this.#connectionsMax)) return idlest
    this.#opening.set(key, opening + 1)
    try {
      const connection = await KafkaConnection.open(address, signal)
      open.push(connection)
      return connection
    } finally {
      this.#opening.set(key, (this.#opening.get(key) ?? 1) - 1)
    }
  }

  close(): void {
    for (const open of this.#connections.values()) for (const connection of open) connection.close()
  }
}

async function leaderOf(connection: KafkaConnection, name: string): Promise<HostPort | undefined> {
  const { topics, brokers } = await connection.ask(metadata, versions.metadata, {
    topics: [{ topicId: zeroUuid, name }],
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  })
  return brokers.find(({ nodeId }) => nodeId === topics[0]?.partitions[0]?.leaderId)
}

function batchOf(records: readonly Buffer[]): Uint8Array {
  const builder = new BatchBuilder({ codec: 'none' })
  const timestamp = Date.now()
  for (const value of records) builder.append({ timestamp, key: null, value })
  return builder.build()
}

/** @throws CommandFailure on any error, or where nothing was said at all */
function refuse(what: string, errorCode: number | undefined): void {
  if (errorCode === 0) return
  const name = errorCode === undefined ? 'no answer' : (kafkaErrorOf(errorCode)?.name ?? `error ${errorCode}`)
  throw new CommandFailure(`${what}: ${name}`)
}
