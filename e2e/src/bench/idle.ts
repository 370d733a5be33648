import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { produce } from '@pico/kafka-codec'
import { readFirstRecord } from '../durability/reader.ts'
import { type PicoServer, startPico } from '../pico.ts'
import { cpuSeconds, rssBytes } from '../process-usage.ts'
import { connectRaw } from '../raw-kafka.ts'
import { createTopic, createTopicsOf, errorName } from '../raw-topics.ts'
import { encodeBatch } from '../test-batch.ts'
import { producerPerformance } from './kafka-tools.ts'
import { dropPageCache, settleDisk } from './machine.ts'
import type { Row } from './report.ts'
import type { RoundSettings } from './rounds.ts'

const topics = 10_000
const dataBytes = 1024 ** 3
const bytesPerMegabyte = 1024 * 1024
const settleMs = 5000
const watchMs = 20_000

/**
 * What 10,000 topics with a record each cost a pico that does nothing, against one that has no topics; and how long it
 * takes from starting the process to the first record read, with those topics and 1 GiB of data. Kafka does not take
 * part: there is nothing to be at least as good as.
 */
export async function benchIdle(settings: RoundSettings): Promise<Row[]> {
  const idle = `${topics} idle topics`
  const start = `start with ${topics} topics and ${(settings.scale * dataBytes) / 1024 ** 3} GiB`
  if (![idle, start].some(settings.isWanted)) return []
  const empty = mkdtempSync(join(tmpdir(), 'pico-idle-empty-'))
  const full = mkdtempSync(join(tmpdir(), 'pico-idle-full-'))
  try {
    await fill(full)
    const rows: Row[] = []
    const row = (name: string, unit: string, values: number[], atMost: number) =>
      rows.push({ name, unit, values: { pico: values }, goals: [{ of: 'pico', atMost }] })
    if (settings.isWanted(idle)) {
      const { memory, processor } = await restingCosts({ empty, full }, settings)
      row(`${idle}: memory`, 'MB', memory, 30)
      row(`${idle}: processor`, '% core', processor, 0.5)
    }
    if (settings.isWanted(start)) {
      const { cold, afterStop, afterKill } = await startTimes(full, settings)
      const from = cold ? '' : ' (page cache warm)'
      row(`${start}${from}, after SIGTERM`, 's', afterStop, 2)
      row(`${start}${from}, after SIGKILL`, 's', afterKill, 2)
    }
    return rows
  } finally {
    rmSync(empty, { recursive: true, force: true })
    rmSync(full, { recursive: true, force: true })
  }
}

async function fill(folder: string): Promise<void> {
  const pico = await startPico({ folder })
  const names = Array.from({ length: topics }, (_, index) => `idle-${index}`)
  await createTopicsOf(pico.port, names)
  const connection = await connectRaw(pico.port, { timeoutMs: 120_000 })
  const records = encodeBatch({ records: [{ value: Buffer.from('the only record') }] })
  for (let at = 0; at < topics; at += 500) {
    const answer = await connection.ask(produce, 9, {
      acks: -1,
      timeoutMs: 60_000,
      topicData: names.slice(at, at + 500).map((name) => ({
        name,
        topicId: zeroUuid,
        partitionData: [{ index: 0, records }],
      })),
    })
    for (const { name, partitionResponses } of answer.responses) {
      const errorCode = partitionResponses[0]?.errorCode ?? -1
      if (errorCode !== 0) throw new Error(`a record for ${name}: ${errorName(errorCode)}`)
    }
  }
  connection.close()
  await pico.close()
}

/** What the topics cost a pico that does nothing. */
async function restingCosts(
  { empty, full }: { readonly empty: string; readonly full: string },
  settings: RoundSettings,
): Promise<{ memory: number[]; processor: number[] }> {
  const memory: number[] = []
  const processor: number[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    const without = await restingUsage(empty)
    const withTopics = await restingUsage(full)
    memory.push((withTopics.rssBytes - without.rssBytes) / bytesPerMegabyte)
    processor.push(100 * (withTopics.cpuShare - without.cpuShare))
    console.error(`  round ${round}: ${memory.at(-1)?.toFixed(1)} MB, ${processor.at(-1)?.toFixed(2)} % of a core`)
  }
  return { memory, processor }
}

/** Of a pico just started and left alone. */
async function restingUsage(folder: string): Promise<{ rssBytes: number; cpuShare: number }> {
  const pico = await startPico({ folder })
  await sleep(settleMs)
  const { pid } = pico.process
  const before = cpuSeconds(pid)
  await sleep(watchMs)
  const usage = { rssBytes: rssBytes(pid), cpuShare: (cpuSeconds(pid) - before) / (watchMs / 1000) }
  await pico.close()
  return usage
}

async function startTimes(
  folder: string,
  settings: RoundSettings,
): Promise<{ cold: boolean; afterStop: number[]; afterKill: number[] }> {
  const topic = 'big'
  const load = { topic, recordBytes: 1024, properties: { 'batch.size': 65_536 } }
  const records = Math.ceil((settings.scale * dataBytes) / load.recordBytes)
  let pico = await startPico({ folder })
  await createTopic(pico.port, topic)
  await producerPerformance({ ...load, bootstrap: pico.bootstrap, records })

  let cold = true
  const timedStart = async (): Promise<{ seconds: number; pico: PicoServer }> => {
    cold = (await dropPageCache()) && cold
    const from = performance.now()
    const pico = await startPico({ folder, readyTimeoutMs: 120_000 })
    await readFirstRecord(pico.port, topic)
    return { seconds: (performance.now() - from) / 1000, pico }
  }
  const afterStop: number[] = []
  const afterKill: number[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    for (const [how, list] of [['kill', afterKill] as const, ['stop', afterStop] as const]) {
      if (how === 'kill') {
        // What came in since the start is what a crash leaves to recover; without it, every kill but the first has nothing.
        await producerPerformance({ ...load, bootstrap: pico.bootstrap, records: Math.ceil(records / 10) })
        await settleDisk()
      }
      await pico.process[how]()
      const started = await timedStart()
      pico = started.pico
      list.push(started.seconds)
      console.error(`  round ${round}: start after ${how} ${started.seconds.toFixed(2)} s`)
    }
  }
  await pico.close()
  return { cold, afterStop, afterKill }
}
