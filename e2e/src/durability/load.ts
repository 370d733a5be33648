import { connectRaw } from '../raw-kafka.ts'
import { createTopic } from '../raw-topics.ts'
import { check } from './checker.ts'
import { type LogRecord, logName } from './history.ts'
import { startJavaProducers } from './java-producer.ts'
import { type LoadProducer, startLoadProducer } from './producer.ts'
import { readLog, startTailReader } from './reader.ts'

export interface LoadSettings {
  readonly port: number
  /** Names topics and producers, so that loads on one broker keep apart. */
  readonly name: string
  /** A topic each; every topic has two idempotent producers, one plain one and a reader. */
  readonly topics: number
  /** Kafka's Java client as one more idempotent producer, on a topic of its own. */
  readonly java: boolean
  readonly recordsPerBatch?: number
  readonly pauseMs?: number
  /** Readers that follow every topic; on when left out. */
  readonly readers?: boolean
}

export interface Load {
  acknowledgedRecords(): number
  /** Retriable errors answered so far, by name. */
  retriedErrors(): string[]
  /** Ends the load: waits until everything under way is acknowledged, for half a minute at most. */
  stop(): Promise<void>
  /** Reads every topic and holds it against the history. May be asked again, after one more restart. */
  verify(): Promise<LoadResult>
}

export interface LoadResult {
  readonly acknowledgedRecords: number
  readonly seenRecords: number
  /** Of the broker's promises. Must be empty. */
  readonly breaches: string[]
  /** Refusals with an error that no client retries, and silence. Must be empty: nothing the load does is wrong. */
  readonly refusals: string[]
}

/** How long the broker may take to acknowledge what was under way at the end. */
const patienceMs = 30_000

export async function startLoad(settings: LoadSettings): Promise<Load> {
  const { port, recordsPerBatch = 20, pauseMs = 2 } = settings
  const connect = () => connectRaw(port)
  const topics = Array.from({ length: settings.topics }, (_, index) => `${settings.name}-${index}`)
  for (const topic of topics) await createTopic(port, topic)
  const each = topics.flatMap((topic) => [
    { topic, name: `${topic}-idempotent-1`, idempotent: true },
    { topic, name: `${topic}-idempotent-2`, idempotent: true },
    { topic, name: `${topic}-plain`, idempotent: false },
  ])
  const producers: LoadProducer[] = []
  for (const who of each) producers.push(await startLoadProducer({ ...who, connect, recordsPerBatch, pauseMs }))
  if (settings.java) {
    const topic = `${settings.name}-java`
    await createTopic(port, topic)
    topics.push(topic)
    producers.push(...(await startJavaProducers(`127.0.0.1:${port}`, topic)))
  }
  const readers = settings.readers === false ? [] : topics.map((topic) => startTailReader({ connect, topic }))
  const acknowledgedRecords = () =>
    producers.flatMap(({ history }) => history.acknowledged).reduce((sum, { count }) => sum + count, 0)

  return {
    acknowledgedRecords,
    retriedErrors: () => [...new Set(producers.flatMap(({ retries }) => [...retries.keys()]))],
    async stop() {
      const stopped = await Promise.allSettled(producers.map((producer) => producer.stop(patienceMs)))
      for (const reader of readers) await reader.stop()
      for (const result of stopped) if (result.status === 'rejected') throw result.reason
    },
    async verify() {
      const logs = new Map<string, LogRecord[]>()
      for (const topic of topics) logs.set(logName(topic), await readLog(port, topic))
      const history = {
        producers: producers.map((producer) => producer.history),
        readers: readers.map((reader) => reader.history),
      }
      return {
        acknowledgedRecords: acknowledgedRecords(),
        seenRecords: readers.reduce((sum, reader) => sum + reader.history.seen.length, 0),
        breaches: check(history, logs),
        refusals: [
          ...producers.flatMap((producer) => producer.refusals),
          ...readers.flatMap((reader) => reader.refusals),
        ],
      }
    },
  }
}
