import { createTopic, deleteTopic } from '../raw-topics.ts'
import { servesGroups } from '../served-apis.ts'
import type { Contender } from './contenders.ts'
import { assignedConsumer, consumerPerformance, producerPerformance } from './kafka-tools.ts'
import { dropPageCache, settleDisk } from './machine.ts'
import type { Goal, Row } from './report.ts'
import { type RoundSettings, rounds } from './rounds.ts'

const recordBytes = 1024
const records = 1_000_000

/**
 * One consumer reads a topic from its beginning: just written, and then after the broker was restarted and the page
 * cache emptied, before every round. The same consumer for all contenders: if one has no groups, by assign for all.
 */
export async function benchConsume(contenders: readonly Contender[], settings: RoundSettings): Promise<Row[]> {
  const fromMemory = 'consume from memory'
  const afterRestart = 'consume after a restart'
  if (![fromMemory, afterRestart].some(settings.isWanted)) return []
  const topic = `consume-${Date.now()}`
  const count = Math.ceil(records * settings.scale)
  const plain = contenders.filter(({ name }) => name !== 'kafka-flush') // reads the same files as without
  for (const { broker } of plain) {
    await createTopic(broker.port, topic)
    const properties = { 'batch.size': 65_536, 'linger.ms': 5 }
    await producerPerformance({ bootstrap: broker.bootstrap, topic, records: count, recordBytes, properties })
  }
  await settleDisk()

  const grouped = await Promise.all(plain.map(({ broker }) => servesGroups(broker.port)))
  const byGroup = grouped.every(Boolean)
  const consumer = byGroup ? consumerPerformance : assignedConsumer
  const read = async ({ broker }: Contender) => {
    const { megabytesPerSecond } = await consumer({ bootstrap: broker.bootstrap, topic, records: count })
    return megabytesPerSecond
  }
  const how = `${byGroup ? 'ConsumerPerformance' : 'by assign'}, 1 KiB`
  const rows: Row[] = []
  if (settings.isWanted(fromMemory)) {
    const values = await rounds(plain, settings, read)
    const goals: Goal[] = [{ of: 'pico', atLeast: 1, times: 'kafka' }]
    rows.push({ name: `${fromMemory}, ${how}`, unit: 'MB/s', values, goals })
  }
  if (settings.isWanted(afterRestart)) {
    let cold = true
    const values = await rounds(plain, settings, async (contender) => {
      await contender.broker.restart('stop')
      cold = (await dropPageCache()) && cold
      return read(contender)
    })
    const from = cold ? 'from disk' : 'NOT from disk: the page cache was warm'
    const goals: Goal[] = [{ of: 'pico', atLeast: 0.7, times: 'kafka' }]
    rows.push({ name: `${afterRestart}, ${from}, ${how}`, unit: 'MB/s', values, goals })
  }
  for (const { broker } of plain) await deleteTopic(broker.port, topic)
  return rows
}
