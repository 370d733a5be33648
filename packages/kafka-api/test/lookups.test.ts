import { listOffsets, offsetForLeaderEpoch } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, KafkaSystem } from './kafka-system.ts'

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open()
  await system.createTopic('t')
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

const base = 1_700_000_000_000

async function fill(): Promise<void> {
  // out of order on purpose: offsets 0 to 5
  await system.produce('t', batchOf([10, 30, 20].map((ms) => ({ value: `${ms}`, timestamp: base + ms }))))
  await system.produce('t', batchOf([40, 25, 40].map((ms) => ({ value: `${ms}`, timestamp: base + ms }))))
}

describe('ListOffsets', () => {
  it.each([1, 2, 4, 5, 6, 7, 8, 9, 10, 11])('version %i knows latest and earliest', async (version) => {
    await fill()
    expect(await system.listOffset('t', -1, version)).toMatchObject({ errorCode: 0, offset: 6n, timestamp: -1n })
    expect(await system.listOffset('t', -2, version)).toMatchObject({ errorCode: 0, offset: 0n, timestamp: -1n })
  })

  it('earliest is where the log was trimmed to', async () => {
    await fill()
    const partition = await system.streams.partition({ name: 't' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    await partition.trim(4)
    expect(await system.listOffset('t', -2)).toMatchObject({ offset: 4n })
    expect(await system.listOffset('t', -4)).toMatchObject({ offset: 4n })
  })

  it('latest says the leader epoch in force', async () => {
    const partition = await system.streams.partition({ name: 't' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    expect(await system.listOffset('t', -1)).toMatchObject({ leaderEpoch: partition.leaderEpoch })
  })

  it.each([
    [0, 0n, 10n],
    [11, 1n, 30n],
    [30, 1n, 30n],
    [31, 3n, 40n],
  ])(
    'a time %i gives the first record, in offset order, that is not older, with its own time',
    async (ms, offset, timestamp) => {
      await fill()
      expect(await system.listOffset('t', base + ms)).toMatchObject({
        errorCode: 0,
        offset,
        timestamp: BigInt(base) + timestamp,
      })
    },
  )

  it('a time after every record gives -1, and so does any on an empty log', async () => {
    expect(await system.listOffset('t', 0)).toMatchObject({ errorCode: 0, offset: -1n, timestamp: -1n })
    expect(await system.listOffset('t', -3)).toMatchObject({ errorCode: 0, offset: -1n, timestamp: -1n })
    await fill()
    expect(await system.listOffset('t', base + 41)).toMatchObject({ errorCode: 0, offset: -1n, timestamp: -1n })
  })

  it('max timestamp is the first offset that carries it', async () => {
    await fill()
    expect(await system.listOffset('t', -3)).toMatchObject({ errorCode: 0, offset: 3n, timestamp: BigInt(base + 40) })
  })

  it('nothing is tiered, nothing waits for upload', async () => {
    await fill()
    expect(await system.listOffset('t', -5, 9)).toMatchObject({ errorCode: 0, offset: -1n, leaderEpoch: -1 })
    expect(await system.listOffset('t', -6, 11)).toMatchObject({ errorCode: 0, offset: -1n, leaderEpoch: -1 })
  })

  it.each([
    [-3, 6],
    [-4, 7],
    [-5, 8],
    [-6, 10],
    [-7, 11],
  ])('%i is not known in version %i', async (timestamp, version) => {
    expect(await system.listOffset('t', timestamp, version)).toMatchObject({ errorCode: 35 })
  })

  it('version 0 lists offsets, as many as asked for', async () => {
    await fill()
    const ask = async (timestamp: number, maxNumOffsets: number) => {
      const partitions = [{ partitionIndex: 0, timestamp: BigInt(timestamp), maxNumOffsets }]
      const { topics } = await system.call(listOffsets, 0, {
        replicaId: -1,
        isolationLevel: 0,
        topics: [{ name: 't', partitions }],
        timeoutMs: 0,
      })
      return topics[0]!.partitions[0]!.oldStyleOffsets
    }
    expect(await ask(-1, 1)).toEqual([6n])
    expect(await ask(-2, 10)).toEqual([0n])
    expect(await ask(-1, 0)).toEqual([])
  })

  it('refuses a partition asked for twice, a missing one, and another leader epoch', async () => {
    const ask = (partitionIndex: number, currentLeaderEpoch = -1) => ({
      partitionIndex,
      currentLeaderEpoch,
      timestamp: -1n,
    })
    const topics = [
      { name: 't', partitions: [ask(0), ask(0), ask(5)] },
      { name: 'missing', partitions: [ask(0)] },
    ]
    const answer = await system.call(listOffsets, 8, { replicaId: -1, isolationLevel: 0, topics, timeoutMs: 0 })
    expect(answer.topics.map(({ partitions }) => partitions.map(({ errorCode }) => errorCode))).toEqual([[42, 3], [3]])
    const later = await system.call(listOffsets, 8, {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name: 't', partitions: [ask(0, 1000)] }],
      timeoutMs: 0,
    })
    expect(later.topics[0]?.partitions[0]?.errorCode).toBe(75)
  })
})

describe('lookups of offsets that fail', () => {
  const warnings = () => system.log.lines.filter(({ level }) => level === 'warn')
  const broken = async (fault: Parameters<typeof system.store.inject>[0]['fault']) => {
    await fill()
    await system.start() // so that what was written is read from the store
    system.store.inject({ operation: 'get', fault })
    return system.listOffset('t', base + 40)
  }

  it('never create a topic, and say so in the log with all that they were asked', async () => {
    expect(await system.listOffset('missing', -1)).toMatchObject({ errorCode: 3, offset: -1n })
    expect(await system.listOffset('missing', -2)).toMatchObject({ errorCode: 3, offset: -1n })
    expect(await system.streams.describeTopics([{ name: 'missing' }])).toEqual([undefined])
    const fields = { topic: 'missing', partition: 0, errorCode: 3, cause: 'unknown-topic' }
    expect(warnings()).toMatchObject([
      { fields: { ...fields, timestamp: '-1' } },
      { fields: { ...fields, timestamp: '-2' } },
    ])
  })

  it('are UNKNOWN_SERVER_ERROR when the store fails', async () => {
    expect(await broken({ kind: 'fail-before', code: 'EIO' })).toMatchObject({ errorCode: -1, offset: -1n })
    expect(warnings()).toMatchObject([
      {
        fields: {
          topic: 't',
          partition: 0,
          timestamp: `${base + 40}`,
          errorCode: -1,
          err: { code: 'PICO_LOG_READ_FAILED' },
        },
      },
    ])
  })

  it('are REQUEST_TIMED_OUT when they ran into a deadline', async () => {
    expect(await broken({ kind: 'fail-before', code: 'ETIMEDOUT' })).toMatchObject({ errorCode: 7, offset: -1n })
    expect(warnings()).toMatchObject([{ fields: { topic: 't', errorCode: 7, err: { code: 'PICO_LOG_READ_FAILED' } } }])
  })
})

describe('OffsetForLeaderEpoch', () => {
  async function end(leaderEpoch: number, version = 4, currentLeaderEpoch = -1) {
    const partitions = [{ partition: 0, currentLeaderEpoch, leaderEpoch }]
    const { topics } = await system.call(offsetForLeaderEpoch, version, { topics: [{ topic: 't', partitions }] })
    return topics[0]!.partitions[0]!
  }

  it.each([2, 3, 4])('version %i tells where each epoch ended', async (version) => {
    await system.produce('t', batchOf(['a', 'b']))
    const first = (await system.listOffset('t', -1)).leaderEpoch
    await system.start()
    await system.produce('t', batchOf(['c']))
    expect(await end(first, version)).toMatchObject({ errorCode: 0, leaderEpoch: first, endOffset: 2n })
    expect(await end(first + 1, version)).toMatchObject({ errorCode: 0, leaderEpoch: first + 1, endOffset: 3n })
    expect(await end(first + 2, version)).toMatchObject({ errorCode: 0, leaderEpoch: -1, endOffset: -1n })
    expect(await end(-1, version)).toMatchObject({ errorCode: 0, leaderEpoch: -1, endOffset: -1n })
  })

  it('fences by the current leader epoch first', async () => {
    const now = (await system.listOffset('t', -1)).leaderEpoch
    expect((await end(0, 4, now + 1)).errorCode).toBe(75)
    await system.start()
    expect((await end(0, 4, now)).errorCode).toBe(74)
  })
})
