import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { fetch, incrementalAlterConfigs, produce } from '@pico/kafka-codec'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { run } from '../src/child-process.ts'
import { shortJvm } from '../src/clients/java.ts'
import { memberKinds } from '../src/groups/member.ts'
import { type PicoServer, packingFlags, startPico, type WalKind } from '../src/pico.ts'
import { connectRaw } from '../src/raw-kafka.ts'
import { createTopic, endOffset } from '../src/raw-topics.ts'
import { passTime, type StoredObjects, storedObjects } from '../src/stored-objects.ts'
import { decodeBatches, encodeBatch } from '../src/test-batch.ts'
import { javaTools, kcatTool, missing } from '../src/toolchain.ts'

const topic = 'latest'
const keys = 50
const rounds = 40
/** Packs, and compacts, all the time. */
const compactingFlags = [...packingFlags, '--maintenance-interval-ms', '500']

/** A topic with the policy "compact", as real clients find it once it has been compacted: with gaps, and a batch without records. */
describe('a compacted topic', () => {
  let pico: PicoServer
  /** What is left: the values of the last round, of keys that were not deleted. */
  const left: string[] = []

  beforeAll(async () => {
    pico = await startPico({ flags: [...compactingFlags, '--kafka-group-initial-rebalance-delay-ms', '0'] })
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
      await write(pico.port, records)
      if (round === rounds - 1) for (const { value } of records) if (value !== null) left.push(value.toString())
    }
    await sleep(1000)
    // Twice through the rounds of maintenance: the first sees the tombstones, the second takes them away.
    await vi.waitFor(async () => expect(await offsets()).toHaveLength(keys), { timeout: 100_000, interval: 1000 })
    await write(pico.port, [{ key: Buffer.from('another'), value: Buffer.from('one'), offsetDelta: 0 }])
    left.push('one')
    await vi.waitFor(async () => expect(await offsets()).toHaveLength(left.length), {
      timeout: 100_000,
      interval: 1000,
    })
  }, 300_000)
  afterAll(() => pico?.close())

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

const deaths: readonly { wal: WalKind; fault: string; moment: string; isCommitted: boolean }[] = [
  { wal: 'local', fault: 'kill-in-compaction', moment: 'is stored and SQL knows nothing of it', isCommitted: false },
  { wal: 'local', fault: 'kill-after-compaction', moment: 'is in the place of what it replaces', isCommitted: true },
  { wal: 'shared', fault: 'kill-in-compaction', moment: 'is stored and SQL knows nothing of it', isCommitted: false },
]
/** What an upload may take until it is committed, and how long what is not needed any more outlives that. */
const uploadDueMs = 3_600_000
const graceMs = 60_000

describe.each(deaths)(
  'a pico killed when what a compaction wrote $moment ($wal WAL)',
  ({ wal, fault, isCommitted }) => {
    let pico: PicoServer
    afterAll(() => pico?.close())

    it('has the last record of every key, and leaves no object behind', async () => {
      pico = await startPico({ wal, fault, flags: compactingFlags })
      await createTopic(pico.port, topic, { 'cleanup.policy': 'delete', 'min.cleanable.dirty.ratio': '0' })
      for (let round = 0; round < 20; round++) {
        await write(
          pico.port,
          Array.from({ length: keys }, (_, key) => ({
            key: Buffer.from(`key-${key}`),
            value: Buffer.from(`${key}.${round}`.padEnd(500, '.')),
            offsetDelta: key,
          })),
        )
      }
      const written = await everyRecord(pico.port)
      const last = written.slice(-keys)
      expect([written.length, new Set(last.map(({ key }) => key)).size]).toEqual([20 * keys, keys])
      await sleep(1000) // all of it is packed by then
      await compactFromNowOn(pico.port)
      expect((await pico.process.exited).signal).toBe('SIGKILL')

      const dead = await storedObjects(pico.folder)
      const newest = dead.stored.filter((key) => key.startsWith('data/')).at(-1) ?? 'none'
      expect([dead.named.has(newest), (dead.doomedAtMs.get(newest) ?? 0) > Date.now()]).toEqual([
        isCommitted,
        !isCommitted,
      ])
      expect(orphansOf(dead)).toEqual([])

      const deleted = await deletesWhatIsDueAfter(uploadDueMs + graceMs)
      expect(deleted.length).toBeGreaterThan(0)
      expect(deleted.includes(newest)).toBe(!isCommitted)
      await vi.waitFor(async () => expect(await everyRecord(pico.port)).toEqual(last), waiting)
      expect(await endOffset(pico.port, topic)).toBe(written.length)
      await pico.process.stop()
      // What was replaced meanwhile, if anything.
      await deletesWhatIsDueAfter(graceMs)
      expect(await everyRecord(pico.port)).toEqual(last)
      await pico.process.stop()
      expect(orphansOf(await storedObjects(pico.folder))).toEqual([])
    }, 90_000)

    /** Starts it after so long, and waits until what is to be deleted by then is. */
    async function deletesWhatIsDueAfter(ms: number): Promise<readonly string[]> {
      passTime(pico.folder, ms)
      const { doomedAtMs, stored } = await storedObjects(pico.folder)
      const due = stored.filter((key) => (doomedAtMs.get(key) ?? Number.POSITIVE_INFINITY) <= Date.now() - graceMs)
      await pico.start()
      const left = () => due.filter((key) => existsSync(join(pico.folder, 'objects', key)))
      await vi.waitFor(() => expect(left()).toEqual([]), waiting)
      return due
    }
  },
)

const waiting = { timeout: 30_000, interval: 100 }

/** Objects that nothing would ever delete. */
function orphansOf({ stored, named, doomedAtMs }: StoredObjects): string[] {
  return stored.filter((key) => !named.has(key) && !doomedAtMs.has(key))
}

async function compactFromNowOn(port: number): Promise<void> {
  const connection = await connectRaw(port)
  try {
    const config = { name: 'cleanup.policy', configOperation: 0, value: 'compact' }
    const { responses } = await connection.ask(incrementalAlterConfigs, 1, {
      resources: [{ resourceType: 2, resourceName: topic, configs: [config] }],
      validateOnly: false,
    })
    expect(responses[0]?.errorCode).toBe(0)
  } finally {
    connection.close()
  }
}

async function everyRecord(port: number): Promise<{ offset: number; key: string; value: string }[]> {
  const end = await endOffset(port, topic)
  const connection = await connectRaw(port)
  try {
    const found: { offset: number; key: string; value: string }[] = []
    for (let offset = 0; offset < end; ) {
      const partition = { partition: 0, fetchOffset: BigInt(offset), partitionMaxBytes: 1 << 20 }
      const { responses } = await connection.ask(fetch, 11, {
        ...{ maxWaitMs: 1000, minBytes: 1, maxBytes: 1 << 20, sessionId: 0, sessionEpoch: -1 },
        topics: [{ topic, topicId: zeroUuid, partitions: [partition] }],
        forgottenTopicsData: [],
      })
      const batches = decodeBatches(responses[0]?.partitions[0]?.records ?? new Uint8Array())
      for (const { records } of batches) {
        for (const { offset: at, key, value } of records) {
          if (at >= offset) found.push({ offset: at, key: `${key}`, value: `${value}` })
        }
      }
      const last = batches.at(-1)
      expect(last, `nothing at offset ${offset}, though the end is ${end}`).toBeDefined()
      offset = last === undefined ? end : last.lastOffset + 1
    }
    return found
  } finally {
    connection.close()
  }
}

async function write(port: number, records: Parameters<typeof encodeBatch>[0]['records']): Promise<void> {
  const connection = await connectRaw(port)
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
