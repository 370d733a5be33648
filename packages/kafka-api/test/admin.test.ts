import {
  createPartitions,
  createTopics,
  deleteRecords,
  describeCluster,
  describeLogDirs,
  describeProducers,
  describeTopicPartitions,
  listPartitionReassignments,
} from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, createRequest, KafkaSystem, readValues } from './kafka-system.ts'

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open({ streams: { partitionsMax: 10 } })
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

describe('DeleteRecords', () => {
  const remove = async (offset: number, { version = 2, topic = 't', partition = 0 } = {}) => {
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, offset: BigInt(offset) }] }]
    const answer = await system.call(deleteRecords, version, { topics, timeoutMs: 1000 })
    const { errorCode, lowWatermark } = answer.topics[0]!.partitions[0]!
    return [errorCode, lowWatermark]
  }
  beforeEach(async () => {
    await system.createTopic('t')
    await system.produce('t', batchOf(['a', 'b', 'c']))
    await system.produce('t', batchOf(['d', 'e']))
  })

  it.each([0, 1, 2])('version %i moves the start of the log, for good', async (version) => {
    expect(await remove(2, { version })).toEqual([0, 2n])
    expect(await system.listOffset('t', -2)).toMatchObject({ offset: 2n })
    expect(await system.fetch('t', 1)).toMatchObject({ errorCode: 1 })
    // It cuts inside a batch, which a fetch returns whole.
    expect(await readValues((await system.fetch('t', 2)).records)).toHaveLength(5)
    await system.start()
    expect(await system.listOffset('t', -2)).toMatchObject({ offset: 2n })
  })

  it('takes -1 for the end, and keeps what is below the start deleted', async () => {
    expect(await remove(-1)).toEqual([0, 5n])
    expect(await remove(3)).toEqual([0, 5n])
    expect(await system.produce('t', batchOf(['f']))).toMatchObject({ baseOffset: 5n, logStartOffset: 5n })
  })

  it('refuses offsets that are not there, and topics that are not', async () => {
    expect(await remove(6)).toEqual([1, -1n])
    expect(await remove(-2)).toEqual([1, -1n])
    expect(await remove(0, { topic: 'missing' })).toEqual([3, -1n])
    expect(await remove(0, { partition: 1 })).toEqual([3, -1n])
  })

  it('refuses a topic that is only compacted', async () => {
    await system.createTopic('c', { 'cleanup.policy': 'compact' })
    await system.createTopic('d', { 'cleanup.policy': 'compact,delete' })
    expect(await remove(-1, { topic: 'c' })).toEqual([44, -1n])
    expect(await remove(-1, { topic: 'd' })).toEqual([0, 0n])
  })
})

describe('CreatePartitions', () => {
  const grow = async (
    count: number,
    { topic = 't', version = 3, validateOnly = false, assignments = null as { brokerIds: number[] }[] | null } = {},
  ) => {
    const topics = [{ name: topic, count, assignments }]
    const { results } = await system.call(createPartitions, version, { topics, timeoutMs: 1000, validateOnly })
    return results[0]?.errorCode
  }
  beforeEach(() => system.createTopic('t', { 'max.message.bytes': '500' }))

  it.each([0, 1, 2, 3])('version %i makes streams that take records at once', async (version) => {
    expect(await grow(3, { version })).toBe(0)
    const [description] = await system.streams.describeTopics([{ name: 't' }])
    expect(description?.partitions).toHaveLength(3)
    const third = await system.streams.partition({ name: 't' }, 2)
    if (typeof third === 'string') throw new Error(third)
    const { accepted } = third.append(batchOf(['x']), { zstdAllowed: true })
    await accepted?.committed
    expect([third.highWatermark, third.config.maxMessageBytes]).toEqual([1, 500])
    await system.start({ streams: { partitionsMax: 10 } })
    expect(await system.streams.partition({ name: 't' }, 2)).toMatchObject({ highWatermark: 1 })
  })

  it('refuses counts that are no growth, or more than allowed, and topics that are not there', async () => {
    for (const count of [1, 0, -1, 11]) expect(await grow(count)).toBe(37)
    expect(await grow(2, { topic: 'missing' })).toBe(3)
    expect(await grow(2, { topic: '' })).toBe(3)
    expect(await grow(2, { validateOnly: true })).toBe(0)
    expect(await grow(1)).toBe(37)
  })

  it('takes replicas by hand, one for each new partition on a broker that is there', async () => {
    const on = (...brokers: number[][]) => ({ assignments: brokers.map((brokerIds) => ({ brokerIds })) })
    expect(await grow(3, on([1]))).toBe(39)
    expect(await grow(3, on([1], [7]))).toBe(39)
    expect(await grow(3, on([1], [1, 2]))).toBe(39)
    expect(await grow(3, on([1], []))).toBe(39)
    expect(await grow(3, { ...on([1], [1]), validateOnly: true })).toBe(0)
    expect(await grow(3, on([1], [1]))).toBe(0)
    expect(await grow(3)).toBe(37)
  })

  it('needs the operator to allow it', async () => {
    await system.start()
    const topics = [{ name: 't', count: 2, assignments: null }]
    const { results } = await system.call(createPartitions, 3, { topics, timeoutMs: 1000, validateOnly: false })
    expect(results).toMatchObject([{ errorCode: 37, errorMessage: expect.stringContaining('--kafka-max-partitions') }])
  })
})

describe('DescribeTopicPartitions', () => {
  const page = async (names: readonly string[], limit: number, topicName?: string, partitionIndex = 0) => {
    const answer = await system.call(describeTopicPartitions, 0, {
      topics: names.map((name) => ({ name })),
      responsePartitionLimit: limit,
      cursor: topicName === undefined ? null : { topicName, partitionIndex },
    })
    const topics = answer.topics.map(({ name, partitions, errorCode }) => {
      return [name, errorCode === 0 ? partitions.map((each) => each.partitionIndex).join() : errorCode]
    })
    return { topics, next: answer.nextCursor }
  }
  beforeEach(async () => {
    for (const [name, partitions] of [
      ['b', 3],
      ['a', 2],
      ['c', 1],
    ] as const) {
      await system.call(createTopics, 7, createRequest({ name, partitions }))
    }
  })

  it('goes through all topics in name order, partition by partition', async () => {
    const seen: unknown[] = []
    let cursor: { topicName: string; partitionIndex: number } | null = null
    for (let pages = 0; pages < 10; pages++) {
      const { topics, next } = await page([], 2, cursor?.topicName, cursor?.partitionIndex)
      seen.push(topics)
      cursor = next
      if (next === null) break
    }
    expect(seen).toEqual([
      [['a', '0,1']],
      [['b', '0,1']],
      [
        ['b', '2'],
        ['c', '0'],
      ],
    ])
  })

  it('goes on after a topic that is gone', async () => {
    expect(await page([], 9, 'aa')).toEqual({
      topics: [
        ['b', '0,1,2'],
        ['c', '0'],
      ],
      next: null,
    })
  })

  it('tells named ones, sorted, and what is wrong with the others', async () => {
    expect(await page(['c', 'x', 'a', 'a', 'b/d'], 9)).toEqual({
      topics: [
        ['a', '0,1'],
        ['b/d', 17],
        ['c', '0'],
        ['x', 3],
      ],
      next: null,
    })
    expect(await page(['c', 'a'], 9, 'b')).toEqual({
      topics: [
        ['c', 42],
        ['a', 42],
      ],
      next: null,
    })
    expect(await page(['a'], 9, 'a', -1)).toEqual({ topics: [['a', 42]], next: null })
  })
})

describe('what else tools ask', () => {
  it('DescribeCluster names the brokers, and is not the controllers', async () => {
    const ask = (version: number, endpointType = 1) =>
      system.call(describeCluster, version, {
        includeClusterAuthorizedOperations: true,
        ...(version >= 1 && { endpointType }),
        includeFencedBrokers: false,
      })
    for (const version of [0, 1]) {
      expect(await ask(version)).toMatchObject({
        errorCode: 0,
        clusterId: 'test',
        controllerId: 1,
        brokers: [{ brokerId: 1, host: 'broker.test', port: 9092, rack: null }],
      })
    }
    expect(await ask(1, 2)).toMatchObject({ errorCode: 114, brokers: [] })
    expect(await ask(1, 3)).toMatchObject({ errorCode: 115, brokers: [] })
  })

  it('DescribeLogDirs sizes partitions, open or not, and opens none', async () => {
    await system.createTopic('t')
    await system.createTopic('empty')
    const batch = batchOf(['x'.repeat(1000)])
    await system.produce('t', batch)
    const ask = async (version: number, topics: { topic: string; partitions: number[] }[] | null) => {
      const { results } = await system.call(describeLogDirs, version, { topics })
      expect(results).toHaveLength(1)
      expect(results[0]).toMatchObject({ errorCode: 0, logDir: 'object-storage' })
      return results[0]!.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, partitionSize }) => [name, partitionIndex, Number(partitionSize)]),
      )
    }
    const all = [
      ['empty', 0, 0],
      ['t', 0, batch.length],
    ]
    for (const version of [1, 2, 3, 4]) expect(await ask(version, null)).toEqual(all)
    expect(
      await ask(4, [
        { topic: 't', partitions: [0, 5] },
        { topic: 'missing', partitions: [0] },
      ]),
    ).toEqual([all[1]])
    expect(await ask(4, [])).toEqual([])
    await system.start()
    expect(await ask(4, null)).toEqual(all)
    const described = await system.streams.describeTopics([{ name: 't' }])
    expect(described[0]?.partitions[0]?.leaderEpoch, 'never opened by this node').toBe(2)
  })

  it('DescribeProducers tells who appended, and what comes next', async () => {
    await system.createTopic('t')
    const ask = async (name = 't', index = 0) => {
      const answer = await system.call(describeProducers, 0, { topics: [{ name, partitionIndexes: [index] }] })
      return answer.topics[0]!.partitions[0]!
    }
    expect(await ask()).toMatchObject({ errorCode: 0, activeProducers: [] })
    await system.produce('t', batchOf(['a', 'b'], { producerId: 7, producerEpoch: 3, baseSequence: 0 }))
    expect((await ask()).activeProducers).toEqual([
      {
        producerId: 7n,
        producerEpoch: 3,
        lastSequence: 1,
        lastTimestamp: 1_700_000_000_000n,
        coordinatorEpoch: -1,
        currentTxnStartOffset: -1n,
      },
    ])
    expect(await ask('missing')).toMatchObject({ errorCode: 3 })
    expect(await ask('t', 1)).toMatchObject({ errorCode: 3 })
  })

  it('ListPartitionReassignments has none', async () => {
    expect(await system.call(listPartitionReassignments, 0, { timeoutMs: 1, topics: null })).toMatchObject({
      errorCode: 0,
      topics: [],
    })
  })
})
