import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { fetch, produce } from '@pico/kafka-codec'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { run } from '../src/child-process.ts'
import { shortJvm } from '../src/clients/java.ts'
import { memberKinds } from '../src/groups/member.ts'
import { type PicoServer, packingFlags, startPico } from '../src/pico.ts'
import { connectRaw } from '../src/raw-kafka.ts'
import { createTopic, endOffset } from '../src/raw-topics.ts'
import { encodeBatch } from '../src/test-batch.ts'
import { javaTools, kcatTool, missing } from '../src/toolchain.ts'

const topic = 'latest'
const keys = 50
const rounds = 40

/** A topic with the policy "compact", as real clients find it once it has been compacted: with gaps, and a batch without records. */
describe('a compacted topic', () => {
  let pico: PicoServer
  /** What is left: the values of the last round, of keys that were not deleted. */
  const left: string[] = []

  beforeAll(async () => {
    pico = await startPico({ flags: [...packingFlags, '--kafka-group-initial-rebalance-delay-ms', '0'] })
    await createTopic(pico.port, topic, {
      'cleanup.policy': 'compact',
      'delete.retention.ms': '0',
      'min.cleanable.dirty.ratio': '0',
    })
    for (let round = 0; round < rounds; round++) {
      const records = Array.from({ length: keys }, (_, key) => ({
        key: Buffer.from(`key-${key}`),
        value: round === rounds - 1 && key % 5 === 0 ? null : Buffer.from(`${key}.${round}`.padEnd(500, '.')),
        offsetDelta: key,
      }))
      await write(records)
      if (round === rounds - 1) for (const { value } of records) if (value !== null) left.push(value.toString())
    }
    await sleep(1000)
    // Twice through the half-minute rounds of maintenance: the first sees the tombstones, the second takes them away.
    await vi.waitFor(async () => expect(await offsets()).toHaveLength(keys), { timeout: 100_000, interval: 1000 })
    await write([{ key: Buffer.from('another'), value: Buffer.from('one'), offsetDelta: 0 }])
    left.push('one')
    await vi.waitFor(async () => expect(await offsets()).toHaveLength(left.length), {
      timeout: 100_000,
      interval: 1000,
    })
  }, 300_000)
  afterAll(() => pico?.close())

  async function write(records: Parameters<typeof encodeBatch>[0]['records']): Promise<void> {
    const connection = await connectRaw(pico.port)
    try {
      const partitionData = [{ index: 0, records: encodeBatch({ records }) }]
      const { responses } = await connection.ask(produce, 9, {
        transactionalId: null,
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ name: topic, topicId: zeroUuid, partitionData }],
      })
      expect(responses[0]?.partitionResponses[0]?.errorCode).toBe(0)
    } finally {
      connection.close()
    }
  }

  /** As kcat finds them: an independent reader of batches. */
  async function offsets(): Promise<number[]> {
    const { kcat } = await kcatTool()
    const args = ['-C', '-q', '-e', '-b', pico.bootstrap, '-t', topic, '-o', 'beginning', '-f', '%o\\n']
    const { stdout } = await run(kcat, args)
    return stdout.toString().trim().split('\n').map(Number)
  }

  it('has its offsets where they were', async () => {
    const found = await offsets()
    const lastRound = (rounds - 1) * keys
    const kept = Array.from({ length: keys }, (_, key) => key).filter((key) => key % 5 !== 0)
    expect(found).toEqual([...kept.map((key) => lastRound + key), rounds * keys])
    expect(await endOffset(pico.port, topic)).toBe(rounds * keys + 1)
  })

  it('is small', async () => {
    const connection = await connectRaw(pico.port)
    try {
      const partition = {
        partition: 0,
        currentLeaderEpoch: -1,
        fetchOffset: 0n,
        partitionMaxBytes: 1 << 24,
        replicaDirectoryId: zeroUuid,
      }
      const { responses } = await connection.ask(fetch, 11, {
        ...{
          replicaId: -1,
          maxWaitMs: 0,
          minBytes: 0,
          maxBytes: 1 << 24,
          isolationLevel: 0,
          sessionId: 0,
          sessionEpoch: -1,
        },
        topics: [{ topic, topicId: zeroUuid, partitions: [partition] }],
        forgottenTopicsData: [],
        rackId: '',
      })
      expect(responses[0]?.partitions[0]?.records?.length).toBeLessThan(keys * 600)
    } finally {
      connection.close()
    }
  })

  it('is read by the Java consumer from the beginning, and from offsets that are not there any more', async ({
    skip,
  }) => {
    if (await missing(javaTools)) skip()
    const { classpath } = await javaTools()
    const read = async (...from: string[]) => {
      const tool = 'org.apache.kafka.tools.consumer.ConsoleConsumer'
      const what = ['--bootstrap-server', pico.bootstrap, '--topic', topic, '--partition', '0', ...from]
      const { stdout } = await run('java', [...shortJvm, '-cp', classpath, tool, ...what])
      return stdout
        .toString()
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('The consumer'))
    }
    expect(await read('--offset', 'earliest', '--max-messages', `${left.length}`)).toEqual(left)
    expect(await read('--offset', '100', '--max-messages', `${left.length}`)).toEqual(left)
    expect(await read('--offset', `${rounds * keys - 1}`, '--max-messages', '2')).toEqual(left.slice(-2))
  }, 120_000)

  it.each(memberKinds)(
    'is read by a group of $name to its end',
    async (kind) => {
      if (await missing(kind.tool)) return
      const member = await kind.start({ bootstrap: pico.bootstrap, groupId: `compacted ${kind.name}`, topics: [topic] })
      try {
        await expect.poll(() => member.values.length, { timeout: 60_000, interval: 100 }).toBe(left.length)
        expect(member.values).toEqual(left)
      } finally {
        await member.stop()
      }
    },
    120_000,
  )
})
