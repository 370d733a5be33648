import { zeroUuid } from '@pico/binary'
import { createTopics, deleteTopics, metadata } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, createRequest, KafkaSystem, readValues } from './kafka-system.ts'

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open()
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

async function create(topic: Parameters<typeof createRequest>[0], version = 7) {
  const { topics } = await system.call(createTopics, version, createRequest(topic))
  return topics[0]!
}

async function assign(
  assignments: { partitionIndex: number; brokerIds: number[] }[],
  numPartitions = -1,
  replicationFactor = -1,
) {
  const topic = { name: 't', numPartitions, replicationFactor, assignments, configs: [] }
  const { topics } = await system.call(createTopics, 7, { topics: [topic] })
  return topics[0]!
}

async function names(): Promise<(string | null)[]> {
  const flags = { includeClusterAuthorizedOperations: false, includeTopicAuthorizedOperations: false }
  const { topics } = await system.call(metadata, 12, { topics: null, ...flags })
  return topics.map(({ name }) => name)
}

describe('CreateTopics', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7])('version %i creates a topic that the next Metadata knows', async (version) => {
    const created = await create({ name: 't', partitions: 1, replicationFactor: 1 }, version)
    expect(created).toMatchObject({ name: 't', errorCode: 0 })
    if (version >= 1) expect(created.errorMessage).toBeNull()
    expect(await names()).toEqual(['t'])
  })

  it('answers from version 5 on what was created, with its whole configuration', async () => {
    const created = await create({ name: 't', config: { 'retention.ms': '60000', 'cleanup.policy': 'compact' } })
    expect(created).toMatchObject({ numPartitions: 1, replicationFactor: 1, topicConfigErrorCode: 0 })
    const configs = new Map(created.configs?.map(({ name, ...rest }) => [name, rest]))
    expect(configs.get('retention.ms')).toEqual({
      value: '60000',
      readOnly: false,
      configSource: 1,
      isSensitive: false,
    })
    expect(configs.get('cleanup.policy')).toMatchObject({ value: 'compact', configSource: 1 })
    expect(configs.get('max.message.bytes')).toMatchObject({ value: '1048588', configSource: 5 })
    expect(configs.size).toBeGreaterThan(25)
    expect(created.topicId).not.toBe(zeroUuid)
  })

  it.each([3, 1, -1, 100])('accepts the replication factor %i and reports 1', async (replicationFactor) => {
    expect(await create({ name: 't', replicationFactor })).toMatchObject({ errorCode: 0, replicationFactor: 1 })
  })

  it('accepts every topic setting of Kafka, also where it has no effect here', async () => {
    expect(
      await create({ name: 't', config: { 'min.insync.replicas': '2', 'unclean.leader.election.enable': 'true' } }),
    ).toMatchObject({ errorCode: 0 })
  })

  it('only checks when asked to validate', async () => {
    expect(await create({ name: 't', validateOnly: true })).toMatchObject({
      errorCode: 0,
      numPartitions: 1,
      topicId: zeroUuid,
    })
    expect(await create({ name: 'a b', validateOnly: true })).toMatchObject({ errorCode: 17 })
    expect(await names()).toEqual([])
    await create({ name: 't' })
    expect(await create({ name: 't', validateOnly: true })).toMatchObject({ errorCode: 36 })
  })

  it('judges each topic alone', async () => {
    const topic = (name: string) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] })
    const { topics } = await system.call(createTopics, 5, {
      topics: [topic('good'), topic('twice'), topic('twice'), topic('bad!')],
    })
    expect(topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['good', 0],
      ['twice', 42],
      ['bad!', 17],
    ])
    expect(await names()).toEqual(['good'])
  })

  it('takes a manual assignment of one partition to this node', async () => {
    expect(await assign([{ partitionIndex: 0, brokerIds: [1] }])).toMatchObject({ errorCode: 0, numPartitions: 1 })
  })
})

it('requests that name very many topics take time in proportion', async () => {
  const many = Array.from({ length: 100_000 }, (_, at) => `bad name ${at % 99_999}`)
  const started = performance.now()
  const topic = (name: string) => ({ name, numPartitions: 0, replicationFactor: 1, assignments: [], configs: [] })
  const { topics } = await system.call(createTopics, 5, { topics: many.map(topic) })
  expect(topics.filter(({ errorCode }) => errorCode === 42)).toHaveLength(1)
  expect(performance.now() - started).toBeLessThan(10_000) // comparing each with each would take minutes
})

describe('CreateTopics refuses', () => {
  it('more partitions than one, and says how to raise that', async () => {
    const refused = await create({ name: 't', partitions: 2 })
    expect(refused).toMatchObject({ errorCode: 37, numPartitions: -1, replicationFactor: -1, configs: [] })
    expect(refused.errorMessage).toMatch(/partition/)
    await system.start({ streams: { partitionsMax: 4 } })
    expect(await create({ name: 't', partitions: 4 })).toMatchObject({ errorCode: 0, numPartitions: 4 })
  })

  it.each([0, -2])('%i partitions', async (partitions) => {
    expect(await create({ name: 't', partitions })).toMatchObject({ errorCode: 37 })
  })

  it.each([0, -2])('a replication factor of %i', async (replicationFactor) => {
    expect(await create({ name: 't', replicationFactor })).toMatchObject({ errorCode: 38 })
  })

  it('a replication factor above 1 where the operator is strict', async () => {
    await system.start({ api: { replicationFactor: 'strict' } })
    expect(await create({ name: 't', replicationFactor: 2 })).toMatchObject({ errorCode: 38 })
    expect(await create({ name: 't', replicationFactor: 1 })).toMatchObject({ errorCode: 0 })
  })

  it.each(['', '.', '..', 'a/b', 'é', 'x'.repeat(250)])('the name %j', async (name) => {
    expect(await create({ name })).toMatchObject({ errorCode: 17, errorMessage: expect.any(String) })
  })

  it('a topic that exists, before anything else that is wrong with the request', async () => {
    await create({ name: 't' })
    expect(await create({ name: 't' })).toMatchObject({ errorCode: 36, errorMessage: "Topic 't' already exists." })
    expect(await create({ name: 't', replicationFactor: 0 })).toMatchObject({ errorCode: 36 })
  })

  it('a name that differs from another only in "." and "_"', async () => {
    await create({ name: 'a.b' })
    expect(await create({ name: 'a_b' })).toMatchObject({ errorCode: 17 })
  })

  it.each([
    ['a null value', { 'retention.ms': null }],
    ['an unknown key', { 'no.such.key': '1' }],
    ['a bad value', { 'retention.ms': 'soon' }],
  ])('%s in the settings', async (_, config) => {
    expect(await create({ name: 't', config })).toMatchObject({
      errorCode: 40,
      errorMessage: expect.stringMatching(/retention\.ms|no\.such\.key/),
    })
    expect(await names()).toEqual([])
  })

  it('manual assignments that contradict themselves or the cluster', async () => {
    expect(await assign([{ partitionIndex: 0, brokerIds: [1] }], 1, -1)).toMatchObject({ errorCode: 42 })
    expect(await assign([{ partitionIndex: 0, brokerIds: [1] }], -1, 1)).toMatchObject({ errorCode: 42 })
    expect(await assign([{ partitionIndex: 1, brokerIds: [1] }])).toMatchObject({ errorCode: 39 })
    expect(
      await assign([
        { partitionIndex: 0, brokerIds: [1] },
        { partitionIndex: 0, brokerIds: [1] },
      ]),
    ).toMatchObject({ errorCode: 39 })
    expect(await assign([{ partitionIndex: 0, brokerIds: [] }])).toMatchObject({ errorCode: 39 })
    expect(await assign([{ partitionIndex: 0, brokerIds: [1, 1] }])).toMatchObject({ errorCode: 39 })
    expect(await assign([{ partitionIndex: 0, brokerIds: [9] }])).toMatchObject({ errorCode: 39 })
    expect(
      await assign([
        { partitionIndex: 0, brokerIds: [1] },
        { partitionIndex: 1, brokerIds: [1] },
      ]),
    ).toMatchObject({ errorCode: 37 })
  })
})

describe('DeleteTopics', () => {
  const byName = async (topicNames: string[], version: number) => {
    const topics = version >= 6 ? topicNames.map((name) => ({ name, topicId: zeroUuid })) : []
    return (
      await system.call(deleteTopics, version, { topics, topicNames: version >= 6 ? [] : topicNames, timeoutMs: 1000 })
    ).responses
  }
  const byRef = async (topics: { name: string | null; topicId: string }[]) =>
    (await system.call(deleteTopics, 6, { topics, topicNames: [], timeoutMs: 1000 })).responses

  it.each([0, 1, 2, 3, 4, 5, 6])('version %i deletes by name', async (version) => {
    await system.createTopic('t')
    expect(await byName(['t', 'missing'], version)).toMatchObject([
      { name: 't', errorCode: 0 },
      { name: 'missing', errorCode: 3 },
    ])
    expect(await names()).toEqual([])
  })

  it('by id, from version 6 on, and says which name that was', async () => {
    const topicId = await system.createTopic('t')
    expect(await byRef([{ name: null, topicId }])).toMatchObject([{ name: 't', topicId, errorCode: 0 }])
    expect(await byRef([{ name: null, topicId }])).toMatchObject([{ name: null, topicId, errorCode: 100 }])
  })

  it('refuses what names a topic twice, both ways, or not at all', async () => {
    const topicId = await system.createTopic('t')
    expect(await byRef([{ name: 't', topicId }])).toMatchObject([{ errorCode: 42 }])
    expect(await byRef([{ name: null, topicId: zeroUuid }])).toMatchObject([{ errorCode: 42 }])
    expect(await byName(['t', 't'], 5)).toMatchObject([{ errorCode: 42 }])
    expect(await names()).toEqual(['t'])
  })

  it('frees the name at once, for a new topic with a new id that begins at offset 0', async () => {
    const first = await system.createTopic('t')
    await system.produce('t', batchOf(['old']))
    await byName(['t'], 5)
    expect((await system.produce('t', batchOf(['lost']))).errorCode).toBe(3)
    const second = await system.createTopic('t')
    expect(second).not.toBe(first)
    expect(await system.produce('t', batchOf(['new']))).toMatchObject({ errorCode: 0, baseOffset: 0n })
    expect(await readValues((await system.fetch('t', 0)).records)).toEqual([[0, 'new']])
  })
})
