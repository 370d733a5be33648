import { createTopic, deleteTopic } from '../raw-topics.ts'
import type { Contender, ContenderName } from './contenders.ts'
import { producerPerformance } from './kafka-tools.ts'
import { settleDisk } from './machine.ts'
import type { Row } from './report.ts'
import { type RoundSettings, rounds } from './rounds.ts'

const recordsPerSecond = 1000
const warmupSeconds = 4
const seconds = 15

/** From send to acknowledgement at 1,000 records of 1 KiB a second, no linger; the JVM's first seconds are not counted. */
export async function benchLatency(contenders: readonly Contender[], settings: RoundSettings): Promise<Row[]> {
  const load = `latency at ${recordsPerSecond} records/s`
  if (!settings.isWanted(load)) return []
  const tails: Partial<Record<ContenderName, number[]>> = {}
  const middles = await rounds(contenders, settings, async ({ name, broker, topicConfigs }, round) => {
    const topic = `latency-${round}-${Date.now()}`
    await createTopic(broker.port, topic, topicConfigs)
    await settleDisk()
    const { latencyMs } = await producerPerformance({
      bootstrap: broker.bootstrap,
      topic,
      recordBytes: 1024,
      throughput: recordsPerSecond,
      records: Math.ceil(recordsPerSecond * (warmupSeconds + seconds * settings.scale)),
      warmupRecords: recordsPerSecond * warmupSeconds,
      properties: { 'linger.ms': 0 },
    })
    await deleteTopic(broker.port, topic)
    tails[name] = [...(tails[name] ?? []), latencyMs.p99]
    return latencyMs.p50
  })
  return [
    { name: `${load}, p50`, unit: 'ms', values: middles, goals: [{ of: 'pico', atMost: 1 }] },
    { name: `${load}, p99`, unit: 'ms', values: tails, goals: [{ of: 'pico', atMost: 1, times: 'kafka' }] },
  ]
}
