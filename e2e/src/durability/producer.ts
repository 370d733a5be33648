import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { initProducerId, kafkaErrorOf, produce } from '@pico/kafka-codec'
import { ConnectionLostError, NoAnswerError, type RawConnection } from '../raw-kafka.ts'
import { errorName } from '../raw-topics.ts'
import { encodeBatch } from '../test-batch.ts'
import { logName, type ProducerHistory, recordValue } from './history.ts'
import { type LoadState, startLoop } from './load-loop.ts'

export interface LoadProducerSettings {
  /** To a broker that leads the partition, as far as anybody knows. */
  readonly connect: () => Promise<RawConnection>
  readonly topic: string
  /** 0 when left out. */
  readonly partition?: number
  readonly name: string
  readonly idempotent: boolean
  readonly recordsPerBatch: number
  /** Waits this long after each acknowledgement; 0 is full speed. */
  readonly pauseMs: number
  /** A broker that says nothing is one more that is away, and no breach: it may be stopped. */
  readonly toleratesSilence?: boolean
}

export interface LoadProducer {
  readonly history: ProducerHistory
  /**
   * Batches refused with an error that is not retriable, and requests that were never answered, in words. An idempotent
   * producer ends at the first refusal.
   */
  readonly refusals: string[]
  /** Retriable errors that were answered, by name, and how often. */
  readonly retries: Map<string, number>
  /** Sends no more, waits for what is under way. Rejects when the broker does not answer in time. */
  stop(timeoutMs: number): Promise<void>
}

interface Batch {
  readonly first: number
  readonly bytes: Buffer
}

const inFlightMax = 5 // as the Java client; a broker remembers five batches of an idempotent producer
const produceVersion = 9

/**
 * A producer as a client library is one, but with every acknowledgement on record: five batches in flight, sent again in
 * order, with their sequence numbers, when the connection is lost or the broker says to retry. A plain producer sends the
 * same way, which may duplicate.
 */
export async function startLoadProducer(settings: LoadProducerSettings): Promise<LoadProducer> {
  const { topic, partition = 0, name, idempotent } = settings
  const history: ProducerHistory = { name, log: logName(topic, partition), idempotent, acknowledged: [], sent: 0 }
  const refusals: string[] = []
  const retries = new Map<string, number>()
  const producerId = idempotent ? await newProducerId(settings.connect) : -1n
  const state: LoadState = { isStopping: false, isAbandoned: false }

  const makeBatch = (): Batch => {
    const first = history.sent
    history.sent += settings.recordsPerBatch
    const records = Array.from({ length: settings.recordsPerBatch }, (_, index) => ({
      value: Buffer.from(recordValue(name, first + index), 'latin1'),
    }))
    const sequence = idempotent ? { producerId, producerEpoch: 0, baseSequence: first } : {}
    return { first, bytes: encodeBatch({ records, ...sequence }) }
  }

  /** Sends every unacknowledged batch in order, then new ones, until an answer is missing or says to retry. */
  const runConnection = async (connection: RawConnection, unacknowledged: Batch[]): Promise<void> => {
    const pending: { batch: Batch; answer: Promise<Answer> }[] = []
    const send = (batch: Batch) => {
      const answer = sendBatch(connection, topic, partition, batch)
      answer.catch(() => undefined) // looked at below, in order
      pending.push({ batch, answer })
    }
    for (const batch of unacknowledged) send(batch)
    while (pending.length > 0 || !state.isStopping) {
      while (pending.length < inFlightMax && !state.isStopping) {
        const batch = makeBatch()
        unacknowledged.push(batch)
        send(batch)
      }
      const oldest = pending.shift()
      if (oldest === undefined) break
      const { errorCode, offset } = await oldest.answer
      if (errorCode === 0) {
        const { first } = oldest.batch
        history.acknowledged.push({ first, count: settings.recordsPerBatch, offset, answeredAtMs: performance.now() })
        unacknowledged.shift()
        if (settings.pauseMs > 0) await sleep(settings.pauseMs)
        continue
      }
      if (kafkaErrorOf(errorCode)?.retriable === true) {
        retries.set(errorName(errorCode), (retries.get(errorName(errorCode)) ?? 0) + 1)
        throw new RetryError(errorName(errorCode))
      }
      refusals.push(`${name}: records from ${oldest.batch.first}: ${errorName(errorCode)}`)
      unacknowledged.shift()
      if (idempotent) state.isStopping = true // what follows would be refused as well
    }
  }

  const run = async (): Promise<void> => {
    const unacknowledged: Batch[] = []
    while (!state.isAbandoned && (!state.isStopping || unacknowledged.length > 0)) {
      let connection: RawConnection | undefined
      try {
        connection = await settings.connect()
        await runConnection(connection, unacknowledged)
      } catch (error) {
        if (!(error instanceof ConnectionLostError || error instanceof RetryError)) throw error
        if (error instanceof NoAnswerError && settings.toleratesSilence !== true)
          refusals.push(`${name}: ${error.message}, with ${unacknowledged.length} batches sent`)
        await sleep(50)
      } finally {
        connection?.close()
      }
    }
  }

  return {
    history,
    refusals,
    retries,
    ...startLoop(name, state, run),
  }
}

class RetryError extends Error {}

interface Answer {
  readonly errorCode: number
  readonly offset: number
}

async function sendBatch(connection: RawConnection, topic: string, index: number, batch: Batch): Promise<Answer> {
  const answer = await connection.ask(produce, produceVersion, {
    transactionalId: null,
    acks: -1,
    timeoutMs: 30_000,
    topicData: [{ name: topic, topicId: zeroUuid, partitionData: [{ index, records: batch.bytes }] }],
  })
  const partition = answer.responses[0]?.partitionResponses[0]
  if (partition === undefined) throw new Error('Produce was answered without its partition')
  return { errorCode: partition.errorCode, offset: Number(partition.baseOffset) }
}

export async function newProducerId(connect: () => Promise<RawConnection>): Promise<bigint> {
  const connection = await connect()
  try {
    for (let attempt = 0; ; attempt++) {
      const answer = await connection.ask(initProducerId, 4, {
        transactionalId: null,
        transactionTimeoutMs: 60_000,
        producerId: -1n,
        producerEpoch: -1,
      })
      if (answer.errorCode === 0) return answer.producerId
      if (attempt === 20) throw new Error(`InitProducerId: ${errorName(answer.errorCode)}`)
      await sleep(250)
    }
  } finally {
    connection.close()
  }
}
