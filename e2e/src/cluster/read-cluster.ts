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

/**
 * Every log, whole, as somebody reads it who knows only this node: over Kafka, and over HTTP where that has it. What differs between the
 * two is in `differences`, in words.
 */
export async function readFrom(
  node: ClusterNode,
  logs: readonly WrittenLog[],
): Promise<{ logs: Map<string, LogRecord[]>; differences: string[] }> {
  const kafka = kafkaRoutes([node.kafkaPort], new Seeded(0), 30_000)
  const http = httpRoutes([node.httpUrl], new Seeded(0))
  const read = new Map<string, LogRecord[]>()
  const differences: string[] = []
  for (const log of logs) {
    const { topic, partition, path } = log
    const name = nameOf(log)
    const records = await patiently(() => readLogTo(() => kafka.toLeader(topic, partition), topic, partition))
    read.set(name, records)
    if (path === undefined) continue
    const overHttp = await patiently(() => readAllOverHttp(http, path))
    const where = `${name} over HTTP by node ${node.nodeId}`
    differences.push(...differencesOf(where, overHttp, records))
  }
  return { logs: read, differences }
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
