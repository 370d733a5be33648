import { zeroUuid } from '@pico/binary'
import { metadata } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, KafkaSystem, type SystemSettings } from './kafka-system.ts'

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open()
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

interface Ask {
  readonly version?: number
  readonly allowAutoTopicCreation?: boolean
  readonly includeTopicAuthorizedOperations?: boolean
  readonly includeClusterAuthorizedOperations?: boolean
}

function ask(names: readonly string[] | null, { version = 9, ...rest }: Ask = {}) {
  const topics = names?.map((name) => ({ name, topicId: zeroUuid })) ?? null
  const flags = { includeClusterAuthorizedOperations: false, includeTopicAuthorizedOperations: false, ...rest }
  return system.call(metadata, version, { topics, ...flags })
}

function askById(topicIds: readonly string[], version = 12) {
  const topics = topicIds.map((topicId) => ({ topicId, name: null }))
  return system.call(metadata, version, {
    topics,
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  })
}

const versions = Array.from({ length: 14 }, (_, version) => version)

describe('Metadata', () => {
  it.each(versions)('version %i tells brokers, topics and leaders', async (version) => {
    const topicId = await system.createTopic('t')
    const answer = await ask(['t'], { version })
    expect(answer.brokers).toMatchObject([{ nodeId: 1, host: 'broker.test', port: 9092 }])
    if (version >= 1) expect(answer.controllerId).toBe(1)
    if (version >= 2) expect(answer.clusterId).toBe('test')
    expect(answer.topics).toMatchObject([
      {
        errorCode: 0,
        name: 't',
        partitions: [{ errorCode: 0, partitionIndex: 0, leaderId: 1, replicaNodes: [1], isrNodes: [1] }],
      },
    ])
    if (version >= 10) expect(answer.topics[0]?.topicId).toBe(topicId)
  })

  it('lists every topic: an empty list in version 0, null later; an empty list later means none', async () => {
    for (const name of ['b', 'a', 'c']) await system.createTopic(name)
    const names = async (asked: string[] | null, version: number) =>
      (await ask(asked, { version })).topics.map(({ name }) => name)
    expect(await names([], 0)).toEqual(['a', 'b', 'c'])
    expect(await names(null, 1)).toEqual(['a', 'b', 'c'])
    expect(await names([], 1)).toEqual([])
    expect(await names(null, 13)).toEqual(['a', 'b', 'c'])
  })

  it('tells the leader epoch that Fetch checks, also before the partition was opened, and never a smaller one later', async () => {
    await system.createTopic('t')
    await system.produce('t', batchOf(['a']))
    const first = (await ask(['t'])).topics[0]!.partitions[0]!.leaderEpoch
    await system.start()
    const listed = (await ask(null)).topics[0]!.partitions[0]!.leaderEpoch
    const described = (await ask(['t'])).topics[0]!.partitions[0]!.leaderEpoch
    expect(described).toBeGreaterThan(first)
    expect(listed).toBe(described)
    expect((await system.fetch('t', 0, { currentLeaderEpoch: described })).errorCode).toBe(0)
    expect((await system.fetch('t', 0, { currentLeaderEpoch: first })).errorCode).toBe(74)
  })

  it('answers by id from version 12 on; one id makes names count for nothing', async () => {
    const topicId = await system.createTopic('t')
    const unknown = '12345678-1234-1234-1234-123456789012'
    expect((await askById([unknown, topicId])).topics).toMatchObject([
      { errorCode: 100, name: null, topicId: unknown, partitions: [] },
      { errorCode: 0, name: 't', topicId },
    ])
    const mixed = await system.call(metadata, 12, {
      topics: [
        { topicId, name: null },
        { topicId: zeroUuid, name: 'new' },
      ],
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    })
    expect(mixed.topics.map(({ name }) => name)).toEqual(['t'])
  })

  it('refuses ids where the version has them in its layout but cannot ask by them', async () => {
    const topicId = await system.createTopic('t')
    expect((await askById([topicId], 11)).topics).toMatchObject([{ errorCode: 42 }])
    expect(await askById([zeroUuid], 13)).toMatchObject({ errorCode: 42 })
  })

  it('says what a client may do only when asked: everything', async () => {
    await system.createTopic('t')
    const quiet = await ask(['t'], { version: 8 })
    expect([quiet.topics[0]?.topicAuthorizedOperations, quiet.clusterAuthorizedOperations]).toEqual([
      -2147483648, -2147483648,
    ])
    const asked = await ask(['t'], {
      version: 8,
      includeClusterAuthorizedOperations: true,
      includeTopicAuthorizedOperations: true,
    })
    expect([asked.topics[0]?.topicAuthorizedOperations, asked.clusterAuthorizedOperations]).toEqual([3576, 8096])
  })
})

describe('auto-creation', () => {
  const restart = (settings: SystemSettings) => system.start(settings)

  it.each([0, 3, 4, 9, 12])('answers the finished topic at once (version %i)', async (version) => {
    expect((await ask(['new'], { version })).topics).toMatchObject([
      { errorCode: 0, name: 'new', partitions: [{ leaderId: 1 }] },
    ])
    expect((await system.produce('new', batchOf(['a']))).errorCode).toBe(0)
  })

  it('creates a topic once for many who ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(['new', 'new'], { version: 12 })))
    expect(
      new Set(answers.flatMap(({ topics }) => topics.map(({ errorCode, topicId }) => `${errorCode} ${topicId}`))).size,
    ).toBe(1)
  })

  it('does not happen where the client or the operator does not allow it', async () => {
    expect((await ask(['new'], { allowAutoTopicCreation: false })).topics).toMatchObject([
      { errorCode: 3, name: 'new', partitions: [] },
    ])
    await restart({ api: { autoCreateTopics: false } })
    expect((await ask(['new'])).topics).toMatchObject([{ errorCode: 3 }])
    expect((await ask(null)).topics).toEqual([])
  })

  it.each(['', 'a b', '..', 'x'.repeat(250), 'a/b'])(
    'refuses the illegal name %j, whether or not it may create',
    async (name) => {
      expect((await ask([name])).topics).toMatchObject([{ errorCode: 17, name }])
      expect((await ask([name], { allowAutoTopicCreation: false })).topics).toMatchObject([{ errorCode: 17, name }])
    },
  )

  it('refuses a name that collides with another after "." and "_" become the same', async () => {
    await system.createTopic('a.b')
    expect((await ask(['a_b'])).topics).toMatchObject([{ errorCode: 17 }])
  })

  it("does not create Kafka's internal topics on the way", async () => {
    expect((await ask(['__consumer_offsets'])).topics).toMatchObject([{ errorCode: 3 }])
  })
})
