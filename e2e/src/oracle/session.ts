import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { kafkaErrorOf, metadata, produce } from '@pico/kafka-codec'
import type { Broker } from '../broker.ts'
import { newProducerId } from '../durability/producer.ts'
import { ConnectionLostError, connectRaw, type RawConnection, type RawConnectionSettings } from '../raw-kafka.ts'
import { createTopic, endOffset, topicId } from '../raw-topics.ts'
import { type BatchFields, encodeBatch } from '../test-batch.ts'

/**
 * One scenario of the comparison: a script of requests, the same for every broker. What is noted is compared step by
 * step, so it must not hold what lawfully differs between any two runs: ids, names, times, ports, message texts.
 */
export interface Scenario {
  readonly name: string
  run(session: Session): Promise<void>
}

export const connectionClosed = 'connection closed'
export const noAnswer = 'no answer, connection open'

/** A scenario's hold on one broker. */
export class Session {
  readonly broker: Broker
  /** Of this scenario alone; exists once `makeTopic` was called. */
  readonly topic: string
  readonly answers = new Map<string, unknown>()
  readonly #settings: RawConnectionSettings
  #connection: RawConnection | undefined

  constructor(broker: Broker, topic: string, settings: RawConnectionSettings = {}) {
    this.broker = broker
    this.topic = topic
    this.#settings = settings
  }

  get port(): number {
    return this.broker.port
  }

  /** Carries out a step and keeps its answer. A connection that the broker closed is an answer too. */
  async note(title: string, step: () => Promise<unknown>): Promise<void> {
    if (this.answers.has(title)) throw new Error(`two steps are called "${title}"`)
    try {
      this.answers.set(title, await step())
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error
      this.close()
      this.answers.set(title, connectionClosed)
    }
  }

  async connection(): Promise<RawConnection> {
    this.#connection ??= await connectRaw(this.port, this.#settings)
    return this.#connection
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  async restart(how: 'stop' | 'kill'): Promise<void> {
    this.close()
    await this.broker.restart(how)
    await this.#leads(this.topic)
  }

  /** Kafka listens, and says that a topic is made, a moment before it leads the partition. */
  async #leads(topic: string): Promise<void> {
    const deadline = Date.now() + 30_000
    for (;;) {
      try {
        await endOffset(this.port, topic)
        return
      } catch (error) {
        if (Date.now() > deadline) throw error
        await sleep(50)
      }
    }
  }

  async makeTopic(configs: Readonly<Record<string, string>> = {}, topic = this.topic): Promise<void> {
    await createTopic(this.port, topic, configs)
    await this.#leads(topic)
  }

  topicId(topic = this.topic): Promise<string> {
    return topicId(this.port, topic)
  }

  newProducerId(): Promise<bigint> {
    return newProducerId(() => connectRaw(this.port))
  }

  endOffset(): Promise<number> {
    return endOffset(this.port, this.topic)
  }

  /** The epoch that the broker now names for partition 0. */
  async leaderEpoch(): Promise<number> {
    const connection = await this.connection()
    const answer = await connection.ask(metadata, 9, {
      topics: [{ topicId: zeroUuid, name: this.topic }],
      allowAutoTopicCreation: false,
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    })
    const epoch = answer.topics[0]?.partitions[0]?.leaderEpoch
    if (epoch === undefined) throw new Error(`Metadata says nothing of ${this.topic}`)
    return epoch
  }

  /** Produces bytes, or a batch made of fields, to partition 0 of the scenario's topic. */
  async produce(records: BatchFields | Uint8Array | null, settings: ProduceSettings = {}): Promise<ProduceAnswer> {
    const connection = await this.connection()
    const { version = 9, acks = -1, transactionalId = null, partition = 0, topic = this.topic } = settings
    const id = version >= 13 ? (settings.topicId ?? (await this.topicId(topic))) : zeroUuid
    const bytes = records === null || records instanceof Uint8Array ? records : encodeBatch(records)
    const answer = await connection.ask(produce, version, {
      transactionalId,
      acks,
      timeoutMs: 10_000,
      topicData: [{ name: topic, topicId: id, partitionData: [{ index: partition, records: bytes }] }],
    })
    const got = answer.responses[0]?.partitionResponses[0]
    if (got === undefined) throw new Error('Produce was answered without its partition')
    return {
      error: errorText(got.errorCode),
      baseOffset: Number(got.baseOffset),
      logStartOffset: Number(got.logStartOffset),
      logAppendTime: got.logAppendTimeMs === -1n ? 'none' : 'some',
      recordErrors: got.recordErrors.map((each) => each.batchIndex),
    }
  }
}

export interface ProduceSettings {
  readonly version?: number
  readonly acks?: number
  readonly transactionalId?: string | null
  readonly partition?: number
  readonly topic?: string
  readonly topicId?: string
}

export interface ProduceAnswer {
  readonly error: string
  readonly baseOffset: number
  readonly logStartOffset: number
  readonly logAppendTime: 'none' | 'some'
  readonly recordErrors: readonly number[]
}

/** What a broker answered in a scenario, step by step. */
export async function answersOf(scenario: Scenario, broker: Broker, topic: string): Promise<Map<string, unknown>> {
  const session = new Session(broker, topic)
  try {
    await scenario.run(session)
    return session.answers
  } finally {
    session.close()
  }
}

export function errorText(code: number): string {
  return kafkaErrorOf(code)?.name ?? `error ${code}`
}
