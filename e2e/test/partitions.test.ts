import { createTopics } from '@pico/kafka-codec'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../src/broker.ts'
import { run } from '../src/child-process.ts'
import { shortJvm } from '../src/clients/java.ts'
import { committedOffsets, viewOf } from '../src/groups/group-view.ts'
import { type GroupMember, memberKinds } from '../src/groups/member.ts'
import { partitionEnds, writeToPartitions } from '../src/groups/partition-values.ts'
import { startKafkaOracle } from '../src/kafka-oracle.ts'
import { partitions as scenarios } from '../src/oracle/partitions.ts'
import { answersOf } from '../src/oracle/session.ts'
import { startPico } from '../src/pico.ts'
import { connectRaw } from '../src/raw-kafka.ts'
import { javaTools, kcatTool, missing } from '../src/toolchain.ts'

const patience = { timeout: 60_000, interval: 100 }
const byDefault = 4
const allowed = ['--kafka-max-partitions', '50']

describe.skipIf(await missing(javaTools))('topics of several partitions, as Apache Kafka 4.4 has them', () => {
  let kafka: Broker
  let pico: Broker
  beforeAll(async () => {
    kafka = await startKafkaOracle()
    pico = await startPico({ flags: allowed })
  }, 120_000)
  afterAll(async () => {
    await pico?.close()
    await kafka?.close()
  })

  it.each(scenarios)(
    '$name',
    async (scenario) => {
      const topic = `partitions-${scenarios.indexOf(scenario)}`
      const theirs = await answersOf(scenario, kafka, topic)
      const ours = await answersOf(scenario, pico, topic)
      expect([...ours]).toEqual([...theirs])
    },
    120_000,
  )
})

describe('topics of several partitions, by real clients', () => {
  let pico: Broker
  const members: GroupMember[] = []
  beforeAll(async () => {
    pico = await startPico({ flags: [...allowed, '--kafka-default-partitions', `${byDefault}`] })
  }, 120_000)
  afterEach(async () => {
    for (const member of members.splice(0)) await member.stop()
  })
  afterAll(() => pico?.close())

  /** `key value` lines: 400 of them, 40 keys. */
  const lines = Array.from({ length: 400 }, (_, index) => `key-${index % 40}:value-${index}`)

  const writers = [
    {
      name: 'kcat',
      tool: kcatTool,
      async write(topic: string) {
        const { kcat } = await kcatTool()
        const input = `${lines.join('\n')}\n`
        await run(kcat, ['-P', '-q', '-b', pico.bootstrap, '-t', topic, '-K', ':', '-X', 'partitioner=murmur2'], {
          input,
        })
      },
    },
    {
      name: 'kafka-console-producer',
      tool: javaTools,
      async write(topic: string) {
        const { classpath } = await javaTools()
        const tool = 'org.apache.kafka.tools.ConsoleProducer'
        const properties = ['--reader-property', 'parse.key=true', '--reader-property', 'key.separator=:']
        const args = [...shortJvm, '-cp', classpath, tool, '--bootstrap-server', pico.bootstrap, '--topic', topic]
        await run('java', [...args, ...properties], { input: `${lines.join('\n')}\n` })
      },
    },
  ]

  describe.each(writers)('$name', ({ name, tool, write }) => {
    it('spreads keys over the partitions of a topic that is made on the way, each in order', async ({ skip }) => {
      if ((await missing(tool)) || (await missing(kcatTool))) skip()
      const topic = `made-by-${name}`
      await write(topic)
      const ends = await partitionEnds(pico.port, topic, byDefault)
      expect(ends.reduce((sum, end) => sum + end, 0)).toBe(lines.length)
      expect(ends.every((end) => end > 0)).toBe(true)

      const { kcat } = await kcatTool()
      const { stdout } = await run(kcat, [
        ...['-C', '-q', '-e', '-b', pico.bootstrap, '-t', topic, '-o', 'beginning'],
        ...['-f', '%p %o %k:%s\\n'],
      ])
      const read = stdout
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' '))
      expect(read.map(([, , record]) => record).sort()).toEqual([...lines].sort())
      const homes = new Map<string, Set<string>>()
      const last = new Map<string, number>()
      for (const [partition = '', offset = '', record = ''] of read) {
        const key = record.slice(0, record.indexOf(':'))
        homes.set(key, (homes.get(key) ?? new Set()).add(partition))
        expect(Number(offset), `partition ${partition}`).toBe(last.get(partition) ?? 0)
        last.set(partition, Number(offset) + 1)
      }
      expect([...homes.values()].every(({ size }) => size === 1)).toBe(true)
    }, 120_000)
  })

  it.each(memberKinds)(
    'a group of $name shares them, through a killed broker',
    async (kind) => {
      if (await missing(kind.tool)) return
      const count = 6
      const topic = `shared-by-${kind.name.replaceAll(/[^A-Za-z0-9]+/g, '-')}`
      const groupId = `group of ${topic}`
      await createWith(pico.port, topic, count)
      const values = (round: number) =>
        Array.from({ length: count }, (_, partition) =>
          Array.from({ length: 50 }, (_, index) => `${partition}:${round * 50 + index}`),
        )
      const join = async () => {
        const member = await kind.start({ bootstrap: pico.bootstrap, groupId, topics: [topic] })
        members.push(member)
        return member
      }
      const unread = (rounds: number) => {
        const read = new Set(members.flatMap((member) => member.values))
        return Array.from({ length: rounds }, (_, round) => values(round))
          .flat(2)
          .filter((value) => !read.has(value))
      }
      await writeToPartitions(pico.port, topic, values(0))
      await join()
      await expect.poll(() => unread(1), patience).toEqual([])
      await join()
      await expect
        .poll(async () => {
          const { state, assignments } = await viewOf(pico.port, groupId)
          return [state, assignments.map(({ length }) => length).sort()]
        }, patience)
        .toEqual(['Stable', [3, 3]])
      await writeToPartitions(pico.port, topic, values(1))
      await expect.poll(() => unread(2), patience).toEqual([])
      await expect.poll(() => committed(pico.port, groupId, topic, count), patience).toEqual(Array(count).fill(100))

      await pico.restart('kill')
      const readBefore = members.map((member) => member.values.length)
      await writeToPartitions(pico.port, topic, values(2))
      await expect.poll(() => unread(3), patience).toEqual([])
      const readAgain = members
        .flatMap((member, index) => member.values.slice(readBefore[index]))
        .filter((value) => {
          return Number(value.split(':')[1]) < 100
        })
      expect(readAgain, 'what was committed before the crash is not read again').toEqual([])
    },
    180_000,
  )
})

async function createWith(port: number, name: string, numPartitions: number): Promise<void> {
  const connection = await connectRaw(port)
  try {
    const { topics } = await connection.ask(createTopics, 7, {
      topics: [{ name, numPartitions, replicationFactor: -1, assignments: [], configs: [] }],
      timeoutMs: 10_000,
      validateOnly: false,
    })
    expect(topics).toMatchObject([{ errorCode: 0, numPartitions }])
  } finally {
    connection.close()
  }
}

async function committed(port: number, groupId: string, topic: string, count: number): Promise<number[]> {
  const partitions = Array.from({ length: count }, (_, partition) => partition)
  return [...(await committedOffsets(port, groupId, [topic], partitions)).values()]
}
