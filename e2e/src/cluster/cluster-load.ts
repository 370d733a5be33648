import type { Seeded } from '../cross/seeded.ts'
import { type History, logName, type ProducerHistory } from '../durability/history.ts'
import { startJavaProducers } from '../durability/java-producer.ts'
import { type LoadProducer, startLoadProducer } from '../durability/producer.ts'
import { startTailReader, type TailReader } from '../durability/reader.ts'
import { rollingKinds } from '../groups/rolling-member.ts'
import { createTopic } from '../raw-topics.ts'
import type { Cluster } from './cluster.ts'
import { type GroupLoad, startGroupLoad } from './group-load.ts'
import { startHttpProducer } from './http-producer.ts'
import { startHttpReader } from './http-reader.ts'
import { httpRoutes } from './http-routes.ts'
import { kafkaRoutes } from './kafka-routes.ts'
import { startKafkajsProducer } from './kafkajs-producer.ts'
import { startMortalStream } from './mortal-stream.ts'
import { startPicoClientProducer, startPicoClientReader } from './pico-client-load.ts'

export interface ClusterLoadSettings {
  readonly cluster: Cluster
  readonly random: Seeded
  /** Kafka's Java client: a producer, and a group. */
  readonly java: boolean
  /** Topics besides, of one producer and one reader each. */
  readonly smallTopics: number
  /** Of what writes at a pace of its own, between two requests. */
  readonly pauseMs: number
  /** How long a request may still be on its way to be done after its client has given it up. */
  readonly lostForMs: number
}

/** Clients of every kind, all of whom know all nodes. */
export interface ClusterLoad {
  readonly logs: readonly WrittenLog[]
  readonly groupIds: readonly string[]
  acknowledgedRecords(): number
  /** Producers that were not acknowledged anything since then, by `performance.now()`; those that do not tell left out. */
  silentSince(ms: number): string[]
  /** The longest times that producers had to wait from one acknowledgement to the next, in words; of those that tell. */
  longestSilences(count: number): string[]
  /** Retriable errors answered so far, by name, and how often. */
  retriedErrors(): string[]
  /** Ends it: waits until everything under way is acknowledged, and committed by the groups. */
  finish(timeoutMs: number): Promise<void>
  history(): History
  /** Of promises to groups. */
  groupBreaches(): string[]
  /** Refusals with an error that no client retries. */
  refusals(): string[]
  processedRecords(): number
  /** Of the streams that are created and deleted over and over. */
  lives(): number
  /** Whatever is left of it, after a failure. */
  abandon(): Promise<void>
}

/** A partition that is written to; `path` where HTTP reads it as well. */
export interface WrittenLog {
  readonly topic: string
  readonly partition: number
  readonly path?: string
}

/** How long a client waits for an answer, before it asks somebody else. */
const timeoutMs = 6000
const partitions = 3

export async function startClusterLoad(settings: ClusterLoadSettings): Promise<ClusterLoad> {
  const { cluster, random, pauseMs } = settings
  const ports = cluster.nodes.map(({ kafkaPort }) => kafkaPort)
  const bootstrap = ports.map((port) => `127.0.0.1:${port}`).join(',')
  const [firstUrl = '', ...moreUrls] = cluster.nodes.map(({ httpUrl }) => httpUrl)
  const kafka = () => kafkaRoutes(ports, random.fork(), timeoutMs)
  const http = () => httpRoutes([firstUrl, ...moreUrls], random.fork())

  const logs: WrittenLog[] = []
  const make = async (topic: string, count = 1) => {
    await createTopic(random.one([ports[0]!, ...ports]), topic, {}, count)
    for (let partition = 0; partition < count; partition++) {
      logs.push({ topic, partition, ...(partition === 0 && { path: `/${topic}` }) })
    }
    return topic
  }
  const raw = (topic: string, partition: number, name: string, idempotent: boolean, pace = pauseMs) => {
    const routes = kafka()
    return startLoadProducer({
      ...{ topic, partition, name, idempotent, recordsPerBatch: 5, pauseMs: pace, toleratesSilence: true },
      connect: () => routes.toLeader(topic, partition),
    })
  }
  const overHttp = (topic: string, name: string, idempotent: boolean) =>
    startHttpProducer({
      ...{ routes: http(), path: `/${topic}`, topic, name, idempotent },
      ...{ recordsPerBatch: 5, pauseMs, timeoutMs },
    })

  const mixed = await make('mixed')
  const web = await make('web')
  const js = await make('js')
  const client = await make('client')
  const grouped = await make('grouped', partitions)
  const small = await Promise.all(Array.from({ length: settings.smallTopics }, (_, index) => make(`small-${index}`)))
  const groupedProducers: LoadProducer[] = []
  for (let partition = 0; partition < partitions; partition++) {
    groupedProducers.push(await raw(grouped, partition, `grouped-${partition}`, true, 4 * pauseMs))
  }
  const producers: LoadProducer[] = [
    ...groupedProducers,
    await raw(mixed, 0, 'mixed-idempotent-1', true),
    await raw(mixed, 0, 'mixed-idempotent-2', true),
    await raw(mixed, 0, 'mixed-plain', false),
    overHttp(mixed, 'mixed-http', true),
    await raw(web, 0, 'web-kafka', true),
    overHttp(web, 'web-http-1', true),
    overHttp(web, 'web-http-2', true),
    overHttp(web, 'web-http-plain', false),
    startPicoClientProducer({ endpoint: random.one([firstUrl, ...moreUrls]), topic: client, pauseMs }),
    await startKafkajsProducer({ bootstrap, topic: js, recordsPerBatch: 5, pauseMs }),
  ]
  for (const topic of small) producers.push(await raw(topic, 0, `${topic}-idempotent`, true, 10 * pauseMs))
  if (settings.java)
    producers.push(
      ...(await startJavaProducers(bootstrap, await make('java', partitions), { partitions, pauseMs: 4 * pauseMs })),
    )

  const readers: TailReader[] = logs.flatMap(({ topic, partition, path }) => {
    const routes = kafka()
    const connect = () => routes.toLeader(topic, partition)
    const where = { topic, partition, toleratesSilence: true, answersPerConnection: 20 }
    const overKafka = startTailReader({ connect, ...where })
    return path === undefined ? [overKafka] : [overKafka, startHttpReader({ routes: http(), path, topic, timeoutMs })]
  })

  readers.push(startPicoClientReader({ endpoint: random.one([firstUrl, ...moreUrls]), topic: client }))

  // No reader of these: what it is told depends on which life it meets.
  const mortals = ['mortal-1', 'mortal-2'].map((topic) => {
    logs.push({ topic, partition: 0, path: `/${topic}` })
    const life = { recordsPerBatch: 5, batchesPerLife: 4, pauseMs, lostForMs: settings.lostForMs }
    return startMortalStream({ ...life, routes: http(), topic, timeoutMs })
  })
  producers.push(...mortals)

  const groups: GroupLoad[] = []
  const histories = groupedProducers.map(({ history }) => history)
  for (const kind of rollingKinds) {
    const isWanted = kind.name === 'kafkajs' || (settings.java && kind.name === 'java-cooperative')
    if (!isWanted) continue
    const group = { kind, members: 2, topic: grouped, bootstrap, routes: kafka(), producers: histories }
    groups.push(await startGroupLoad(group))
  }

  return {
    logs,
    groupIds: groups.map(({ groupId }) => groupId),
    acknowledgedRecords: () =>
      producers.flatMap(({ history }) => history.acknowledged).reduce((sum, { count }) => sum + count, 0),
    silentSince: (ms) =>
      producers
        .map(({ history }) => history)
        .filter((history) => isSilentSince(history, ms))
        .map(({ name }) => name),
    longestSilences: (count) =>
      producers
        .map(({ history }) => ({ name: history.name, ms: longestSilenceMs(history) }))
        .toSorted((a, b) => b.ms - a.ms)
        .slice(0, count)
        .map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(1)} s`),
    retriedErrors: () => summed(producers.map(({ retries }) => retries)),
    async finish(patienceMs) {
      const stopped = await Promise.allSettled(producers.map((producer) => producer.stop(patienceMs)))
      const failed = stopped.filter((result) => result.status === 'rejected')
      if (failed.length > 0)
        throw new AggregateError(
          failed.map(({ reason }) => reason),
          `${failed.map(({ reason }) => reason)}`,
        )
      await Promise.all(groups.map((group) => group.finish(patienceMs)))
      await Promise.all(readers.map((reader) => reader.stop()))
    },
    history: () => ({
      producers: producers.map(({ history }) => history),
      readers: readers.map(({ history }) => history),
    }),
    groupBreaches: () => groups.flatMap((group) => group.breaches()),
    refusals: () => [...producers, ...readers].flatMap(({ refusals }) => refusals),
    processedRecords: () => groups.reduce((sum, group) => sum + group.processedRecords(), 0),
    lives: () => mortals.reduce((sum, { lives }) => sum + lives, 0),
    async abandon() {
      await Promise.allSettled([
        ...producers.map((producer) => producer.stop(0)),
        ...readers.map((reader) => reader.stop()),
        ...groups.map((group) => group.abandon()),
      ])
    },
  }
}

export function nameOf({ topic, partition }: WrittenLog): string {
  return logName(topic, partition)
}

function isSilentSince({ acknowledged }: ProducerHistory, ms: number): boolean {
  const last = acknowledged.at(-1)
  if (last === undefined) return true
  return last.answeredAtMs !== undefined && last.answeredAtMs < ms
}

function longestSilenceMs({ acknowledged }: ProducerHistory): number {
  const times = acknowledged.flatMap(({ answeredAtMs }) => answeredAtMs ?? []).toSorted((a, b) => a - b)
  return times.reduce((longest, ms, at) => Math.max(longest, ms - (times[at - 1] ?? ms)), 0)
}

function summed(counts: readonly ReadonlyMap<string, number>[]): string[] {
  const sums = new Map<string, number>()
  for (const [name, count] of counts.flatMap((each) => [...each])) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].map(([name, count]) => `${count} times ${name}`)
}
