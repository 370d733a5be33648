import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import { latestByKey } from '../src/clients/latest-by-key.ts'
import { committedOffsets } from '../src/groups/group-view.ts'
import { partitionEnds, partitionStarts } from '../src/groups/partition-values.ts'
import { createTopic, topicSettings } from '../src/raw-topics.ts'
import { allNumbers, NumberedWords } from '../src/streams-app/numbered-words.ts'
import {
  applicationId,
  internalTopics,
  startWordCount,
  type WordCountInstance,
  writeLines,
} from '../src/streams-app/word-count.ts'
import { javaTools, kcatTool, missing } from '../src/toolchain.ts'

/** How often an instance, and then the broker, is killed. */
const rounds = Number(process.env['E2E_STREAMS_ROUNDS'] ?? 1)
const linesPerSecond = 200
const secondsOfWriting = 4
const partitions = 4
const eachPartition = Array.from({ length: partitions }, (_, partition) => partition)
const patience = { timeout: 120_000, interval: 250 }
const picoFlags = [
  ...['--kafka-max-partitions', `${partitions}`],
  ...['--kafka-group-initial-rebalance-delay-ms', '0'],
  ...['--maintenance-interval-ms', '500'],
]
const lacksTools = (await missing(javaTools)) || (await missing(kcatTool))

/**
 * A word count of Kafka Streams 4.4, at least once: two instances, a repartition topic, two stores with changelogs.
 *
 * What must come out: after a kill, "at least once" lets a plain count be too high by what had been counted and not committed. So
 * the plain counts must be exact until somebody is killed, rise by exactly what is written as long as nobody is, and never be too
 * low. The other store is idempotent: it keeps which occurrences of a word it has seen. It must be exact always, and there an
 * occurrence that was lost, or that nobody wrote, shows even where the plain count may be off.
 *
 * Every kill is followed by a writing that has each word in it. Without transactions an instance that lost a task may still
 * send what it had in its buffer after its successor has begun, to any Kafka, and so leave an older state in the topics
 * until the word is counted again.
 */
describe.skipIf(lacksTools).each(brokersUnderTest(['pico-packing']))('a word count on $name', ({ name, start }) => {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-streams-'))
  const words = new NumberedWords(1)
  const instances: WordCountInstance[] = []
  let broker: Broker
  beforeAll(async () => {
    broker = await start(picoFlags)
    for (const topic of ['lines', 'counts', 'numbers']) await createTopic(broker.port, topic, {}, partitions)
  }, 600_000)
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      for (const { process } of [broker, ...instances])
        console.log(`${process.name}:\n${process.output().slice(-4000)}`)
    })
  })
  afterAll(async () => {
    for (const { process } of instances) await process.kill()
    await broker?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const startInstance = (index: number) => startWordCount(broker.bootstrap, join(folder, `${index}`))

  /** Writes some seconds of lines while something happens, and waits until all of it is counted and committed. */
  async function write(meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
    const lines = words.lines(linesPerSecond * secondsOfWriting)
    await Promise.all([writeLines(broker.bootstrap, 'lines', lines, linesPerSecond), meanwhile()])
    // In this order: when all lines are committed, all words are in the repartition topic.
    for (const topic of ['lines', internalTopics.repartition])
      await expect.poll(() => uncommitted(topic), patience).toBe(0)
  }

  async function uncommitted(topic: string): Promise<number> {
    const ends = await partitionEnds(broker.port, topic, partitions)
    const offsets = await committedOffsets(broker.port, applicationId, [topic], eachPartition)
    return ends.reduce((sum, end, partition) => sum + end - (offsets.get(`${topic}-${partition}`) ?? 0), 0)
  }

  async function counted(): Promise<Map<string, number>> {
    const { latest } = await latestByKey(broker.bootstrap, 'counts')
    return new Map([...latest].map(([word, count]) => [word, Number(count)]))
  }

  async function expectNothingLost(): Promise<void> {
    const expected = words.counts()
    const { latest } = await latestByKey(broker.bootstrap, 'numbers')
    expect(latest).toEqual(new Map([...expected].map(([word, count]) => [word, allNumbers(count)])))
    const counts = await counted()
    for (const [word, count] of expected) expect(counts.get(word), word).toBeGreaterThanOrEqual(count)
  }

  it('is exact while an instance joins another', async () => {
    instances.push(await startInstance(0))
    await write(async () => instances.push(await startInstance(1)))
    expect(await counted()).toEqual(words.counts())
    await expectNothingLost()
  }, 600_000)

  it('has changelogs with the settings it wants, and they are compacted', async () => {
    const changes = [...words.counts().values()].reduce((sum, count) => sum + count, 0)
    for (const changelog of internalTopics.changelogs) {
      const settings = await topicSettings(broker.port, changelog)
      expect(settings.get('cleanup.policy'), changelog).toBe('compact')
      expect(settings.get('message.timestamp.type'), changelog).toBe('CreateTime')
      // Kafka compacts no segment that is still written to.
      if (name.startsWith('pico')) {
        const kept = async () => (await latestByKey(broker.bootstrap, changelog)).records
        await expect.poll(kept, patience).toBeLessThan(changes / 2)
      }
    }
  }, 600_000)

  it('has a repartition topic with the settings it wants, and deletes from it what is counted', async () => {
    const settings = await topicSettings(broker.port, internalTopics.repartition)
    expect(settings.get('cleanup.policy')).toBe('delete')
    expect(settings.get('retention.ms')).toBe('-1')
    // What was committed last goes only with the next commit, for which there may be no reason.
    const firstKept = async () =>
      Math.min(...(await partitionStarts(broker.port, internalTopics.repartition, partitions)))
    await expect.poll(firstKept, patience).toBeGreaterThan(0)
  }, 600_000)

  it(
    `has counted every word after ${rounds} kills of an instance, its state deleted, and of the broker`,
    async () => {
      for (let round = 0; round < rounds; round++) {
        const index = round % 2
        await write(async () => {
          await sleep(1000)
          await instances[index]?.killAndForget()
          instances[index] = await startInstance(index)
        })
        await expect.poll(() => instances[index]?.restored().get('numbers'), patience).toBeGreaterThan(0)
        await expectNothingLost()
        await write(async () => {
          await sleep(1000)
          await broker.restart('kill')
        })
        await expectNothingLost()
      }
    },
    rounds * 900_000,
  )

  it('counts exactly what is written afterwards', async () => {
    const before = { counts: await counted(), words: words.counts() }
    await write()
    await expectNothingLost()
    const more = (now: Map<string, number>, then: Map<string, number>) =>
      new Map([...now].map(([word, count]) => [word, count - (then.get(word) ?? 0)]))
    expect(more(await counted(), before.counts)).toEqual(more(words.counts(), before.words))
  }, 600_000)

  it('is closed with states in the changelogs that are what it has told', async () => {
    for (const instance of instances) await instance.stop()
    await expectNothingLost()
    const [counts, numbers] = internalTopics.changelogs
    const told = async (topic: string) => (await latestByKey(broker.bootstrap, topic)).latest
    expect((await latestByKey(broker.bootstrap, counts, 'q')).latest).toEqual(await told('counts'))
    expect((await latestByKey(broker.bootstrap, numbers)).latest).toEqual(await told('numbers'))
    for (const topic of ['lines', internalTopics.repartition]) expect(await uncommitted(topic), topic).toBe(0)
  }, 600_000)
})
