import { createTopic, deleteTopic } from '../raw-topics.ts'
import type { Contender } from './contenders.ts'
import { type ProduceLoad, producerFleet, producerPerformance } from './kafka-tools.ts'
import { settleDisk } from './machine.ts'
import type { Goal, Row } from './report.ts'
import { type RoundSettings, rounds } from './rounds.ts'

interface ProduceCase {
  readonly name: string
  readonly producers: number
  readonly load: Pick<ProduceLoad, 'recordBytes' | 'properties'>
  /** About as many as the fastest contender takes in eight seconds, of all producers together. */
  readonly records: number
  readonly goals: readonly Goal[]
}

const fleet = 16

/** Throughput of producers that never pause. Acks and idempotence are the client's defaults: all, and on. */
const produceCases: readonly ProduceCase[] = [
  {
    name: 'produce 1 KiB, batch 64 KiB, linger 5 ms',
    producers: 1,
    load: { recordBytes: 1024, properties: { 'batch.size': 65_536, 'linger.ms': 5 } },
    records: 800_000,
    goals: [
      { of: 'pico', atLeast: 1, times: 'kafka' },
      { of: 'pico', atLeast: 2, times: 'kafka-flush' },
    ],
  },
  {
    name: 'produce 1 KiB, client defaults',
    producers: 1,
    load: { recordBytes: 1024 },
    records: 400_000,
    goals: [
      { of: 'pico', atLeast: 1, times: 'kafka' },
      { of: 'pico', atLeast: 3, times: 'kafka-flush' },
    ],
  },
  {
    name: `produce 1 KiB, client defaults, ${fleet} producers`,
    producers: fleet,
    load: { recordBytes: 1024 },
    records: 400_000,
    goals: [{ of: 'pico', atLeast: 1, times: 'kafka' }],
  },
  {
    name: 'produce 100 B, client defaults',
    producers: 1,
    load: { recordBytes: 100 },
    records: 4_000_000,
    goals: [{ of: 'pico', atLeast: 1, times: 'kafka' }],
  },
  {
    name: `produce 100 B, client defaults, ${fleet} producers`,
    producers: fleet,
    load: { recordBytes: 100 },
    records: 3_000_000,
    goals: [{ of: 'pico', atLeast: 1, times: 'kafka' }],
  },
]

export async function benchProduce(contenders: readonly Contender[], settings: RoundSettings): Promise<Row[]> {
  const rows: Row[] = []
  for (const each of produceCases) {
    if (!settings.isWanted(each.name)) continue
    console.error(each.name)
    rows.push(await measure(contenders, each, settings))
  }
  return rows
}

async function measure(
  contenders: readonly Contender[],
  { name, producers, load, records, goals }: ProduceCase,
  settings: RoundSettings,
): Promise<Row> {
  const perProducer = Math.ceil((records * settings.scale) / producers)
  const values = await rounds(contenders, settings, async ({ broker, topicConfigs }, round) => {
    const topic = `produce-${round}-${Date.now()}`
    await createTopic(broker.port, topic, topicConfigs)
    await settleDisk()
    const each = { ...load, bootstrap: broker.bootstrap, topic, records: perProducer }
    // A lone client is measured once its JVM has compiled what it does: that takes half of a core for eight seconds.
    const warmedUp = { ...each, warmupRecords: perProducer, records: 2 * perProducer }
    const report = producers === 1 ? await producerPerformance(warmedUp) : await producerFleet(producers, each)
    await deleteTopic(broker.port, topic)
    return report.megabytesPerSecond
  })
  return { name, unit: 'MB/s', values, goals }
}
