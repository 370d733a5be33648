import { setTimeout as sleep } from 'node:timers/promises'
import { Seeded } from '../cross/seeded.ts'
import type { LogRecord } from '../durability/history.ts'
import { readLogTo } from '../durability/reader.ts'
import { ConnectionLostError } from '../raw-kafka.ts'
import { nameOf, type WrittenLog } from './cluster-load.ts'
import type { ClusterNode } from './cluster-node.ts'
import { readAllOverHttp } from './http-reader.ts'
import { httpRoutes } from './http-routes.ts'
import { kafkaRoutes } from './kafka-routes.ts'

/** How long a log may have no leader that a node knows of. */
const patienceMs = 30_000

/** Every log, whole, as somebody reads it over Kafka who knows only this node. */
export async function readOverKafka(node: ClusterNode, logs: readonly WrittenLog[]): Promise<Map<string, LogRecord[]>> {
  const routes = kafkaRoutes([node.kafkaPort], new Seeded(0), 30_000)
  const read = new Map<string, LogRecord[]>()
  for (const log of logs) {
    const { topic, partition } = log
    const records = await patiently(() => readLogTo(() => routes.toLeader(topic, partition), topic, partition))
    read.set(nameOf(log), records)
  }
  return read
}

/** The same over HTTP, of those that HTTP has. */
export async function readOverHttp(node: ClusterNode, logs: readonly WrittenLog[]): Promise<Map<string, LogRecord[]>> {
  const routes = httpRoutes([node.httpUrl], new Seeded(0))
  const read = new Map<string, LogRecord[]>()
  for (const log of logs) {
    const { path } = log
    if (path !== undefined) read.set(nameOf(log), await patiently(() => readAllOverHttp(routes, path)))
  }
  return read
}

/** Where one reading has something else than another, in words; the first few. */
export function differencesOf(where: string, log: readonly LogRecord[], other: readonly LogRecord[]): string[] {
  const differences: string[] = []
  if (log.length !== other.length) differences.push(`${where}: ${log.length} records, and ${other.length} before`)
  for (let at = 0; at < Math.min(log.length, other.length) && differences.length < 10; at++) {
    const [here, there] = [log[at], other[at]]
    if (here?.offset === there?.offset && here?.content === there?.content) continue
    differences.push(`${where}: ${here?.content} at ${here?.offset}, and ${there?.content} at ${there?.offset} before`)
  }
  return differences
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || Date.now() > deadline) throw error
      await sleep(200)
    }
  }
}
