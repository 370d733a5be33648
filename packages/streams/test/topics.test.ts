import { type Metadata, MetadataUnavailableError } from '@pico/metadata'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InvalidDefaultsError, type NewTopic, type Streams, type TopicDescription } from '../src/index.ts'
import {
  accepted,
  append,
  batchOf,
  openPartition,
  openTopic,
  readValues,
  refused,
  TestSystem,
  write,
} from './system.ts'

const topic = (name: string, more: Partial<NewTopic> = {}): NewTopic => {
  return { name, partitions: 1, config: {}, validateOnly: false, ...more }
}
const all = async (streams: Streams) => {
  const found: TopicDescription[] = []
  for await (const description of streams.listTopics()) found.push(description)
  return found
}

describe('topics', () => {
  let system: TestSystem
  let streams: Streams
  beforeEach(async () => {
    system = await TestSystem.open()
    streams = (await system.start()).streams
  })
  afterEach(() => system.close())

  it('are there at once when they are created, with an id of their own and what they will be led by', async () => {
    const { created } = await streams.createTopic(topic('orders', { config: { 'retention.ms': '+1000' } }))
    expect(created).toMatchObject({
      name: 'orders',
      config: { overrides: { 'retention.ms': '1000' }, retentionMs: 1000 },
      partitions: [{ partition: 0, leaderNodeId: 1, leaderEpoch: 1 }],
    })
    expect(await streams.describeTopics([{ name: 'orders' }])).toEqual([created])
    expect(await streams.describeTopics([{ topicId: created?.topicId ?? '' }])).toEqual([created])
    expect((await openPartition(streams)).leaderEpoch).toBe(1)
    expect(await streams.describeTopics([{ name: 'orders' }])).toEqual([created])
  })

  it('are described in the order asked for, unknown ones as undefined', async () => {
    for (const name of ['a', 'b']) await streams.createTopic(topic(name))
    const described = await streams.describeTopics([{ name: 'b' }, { name: 'x' }, { name: 'a' }, { topicId: zeroId }])
    expect(described.map((one) => one?.name)).toEqual(['b', undefined, 'a', undefined])
  })

  it('are listed in name order', async () => {
    for (const name of ['c', 'a', 'b.x', 'b']) await streams.createTopic(topic(name))
    expect((await all(streams)).map(({ name }) => name)).toEqual(['a', 'b', 'b.x', 'c'])
  })

  it.each([
    ['bad/name', {}, { kind: 'invalid-name', message: expect.stringContaining('characters other than') }],
    ['x', { partitions: 0 }, { kind: 'invalid-partitions', message: '0 partitions: at least 1 is needed' }],
    ['x', { partitions: -2 }, { kind: 'invalid-partitions', message: '-2 partitions: at least 1 is needed' }],
    [
      'x',
      { partitions: 3 },
      {
        kind: 'invalid-partitions',
        message: "3 partitions: a topic has one partition here (the operator's --kafka-max-partitions)",
      },
    ],
    ['x', { config: { nonsense: '1' } }, { kind: 'invalid-config', message: 'unknown topic setting "nonsense"' }],
    ['orders', {}, { kind: 'topic-exists' }],
    ['orders', { partitions: 0, config: { nonsense: '1' } }, { kind: 'topic-exists' }],
    ['a_b', {}, { kind: 'name-collision', message: "topic a_b collides with a.b: '.' and '_' count as the same" }],
    ['a.b', {}, { kind: 'topic-exists' }],
  ])('%s %j is refused, whether or not it is only checked', async (name, more, refusal) => {
    for (const existing of ['orders', 'a.b']) await streams.createTopic(topic(existing))
    for (const validateOnly of [true, false]) {
      expect(await streams.createTopic(topic(name, { ...more, validateOnly }))).toEqual({ refused: refusal })
    }
    expect((await all(streams)).map(({ name }) => name)).toEqual(['a.b', 'orders'])
  })

  it('are only checked when only that is asked', async () => {
    const { created } = await streams.createTopic(topic('a.b', { validateOnly: true }))
    expect(created).toMatchObject({ name: 'a.b', partitions: [{ partition: 0, leaderEpoch: 1 }] })
    expect(await streams.describeTopics([{ name: 'a.b' }])).toEqual([undefined])
    expect(await streams.partition({ name: 'a.b' }, 0)).toBe('unknown-topic')
  })

  it('are created once, however many ask at the same time', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => streams.createTopic(topic('orders'))))
    expect(outcomes.filter(({ created }) => created !== undefined)).toHaveLength(1)
    expect(outcomes.filter(({ refused }) => refused?.kind === 'topic-exists')).toHaveLength(4)
    expect(await all(streams)).toHaveLength(1)
  })

  it('collide also when both are created at the same time', async () => {
    const outcomes = await Promise.all([streams.createTopic(topic('a.b')), streams.createTopic(topic('a_b'))])
    expect(outcomes.map(({ refused }) => refused?.kind)).toEqual([undefined, 'name-collision'])
  })

  it('may be called as a reserved path is, as Schema Registry does', async () => {
    const schemas = await openTopic(streams, '_schemas', { 'cleanup.policy': 'compact' })
    await write(schemas, batchOf(['a']))
    const rows = await system.metadata.streams.byTopic(['_schemas'])
    expect(rows.map(({ name }) => name)).toEqual(['/_streams/_schemas/0'])
  })

  it('have as many partitions as the operator allows', async () => {
    const many = (await system.start({ partitionsMax: 3 })).streams
    expect(await many.createTopic(topic('orders', { partitions: 4 }))).toMatchObject({
      refused: { kind: 'invalid-partitions', message: expect.stringContaining('at most 3 are allowed') },
    })
    const { created } = await many.createTopic(topic('orders', { partitions: 3 }))
    expect(created?.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2])
    for (const partition of [2, 0, 1])
      await write(await openPartition(many, 'orders', partition), batchOf([`${partition}`]))
    expect(await readValues(await openPartition(many, 'orders', 2))).toEqual(['0=2'])
    expect(await many.partition({ name: 'orders' }, 3)).toBe('unknown-partition')
    expect(await many.deleteTopic({ name: 'orders' })).toBe(true)
    expect(await system.metadata.streams.count()).toBe(0)
  })

  it('take the operator defaults where they have no setting of their own', async () => {
    await openTopic(streams, 'old')
    const { streams: tuned } = await system.start({ defaultTopicConfig: { 'max.message.bytes': ' 99 ' } })
    const [old] = await tuned.describeTopics([{ name: 'old' }])
    expect(old?.config).toMatchObject({ overrides: {}, maxMessageBytes: 99 })
    const partition = await openPartition(tuned, 'old')
    expect(refused(append(partition, batchOf(['x'.repeat(100)]))).errorCode).toBe(10)
  })

  it.each([
    [{ 'max.message.bytes': 'many' }, 'invalid value "many" for max.message.bytes'],
    [{ 'retention.ms': '1000' }, 'retention.ms can be set per topic only'],
    [{ 'max.compaction.lag.ms': '1000' }, 'max.compaction.lag.ms can be set per topic only'],
  ])('cannot be opened with operator defaults %j', async (defaultTopicConfig, message) => {
    await expect(system.start({ defaultTopicConfig })).rejects.toThrow(InvalidDefaultsError)
    await expect(system.start({ defaultTopicConfig })).rejects.toThrow(message)
  })
})

describe('deleting a topic', () => {
  let system: TestSystem
  let streams: Streams
  beforeEach(async () => {
    system = await TestSystem.open()
    streams = (await system.start()).streams
  })
  afterEach(() => system.close())

  it('frees its name at once, for an empty topic with another id', async () => {
    const before = await openTopic(streams)
    await write(before, batchOf(['a']))
    expect(await streams.deleteTopic({ name: 'orders' })).toBe(true)
    expect(await streams.describeTopics([{ name: 'orders' }, { topicId: before.topicId }])).toEqual([
      undefined,
      undefined,
    ])
    expect(await streams.partition({ name: 'orders' }, 0)).toBe('unknown-topic')
    expect(await streams.partition({ topicId: before.topicId }, 0)).toBe('unknown-topic-id')
    const after = await openTopic(streams)
    expect(after.topicId).not.toBe(before.topicId)
    expect(after).toMatchObject({ startOffset: 0, highWatermark: 0 })
    expect(await write(after, batchOf(['b']))).toBe(0)
    expect(await readValues(after)).toEqual(['0=b'])
  })

  it('says whether there was one, by name and by id', async () => {
    expect(await streams.deleteTopic({ name: 'orders' })).toBe(false)
    const { topicId } = await openTopic(streams)
    expect(await streams.deleteTopic({ topicId })).toBe(true)
    expect(await streams.deleteTopic({ topicId })).toBe(false)
  })

  it('happens once, however many ask at the same time, and whoever opens it meanwhile', async () => {
    await streams.createTopic(topic('orders'))
    const results = await Promise.all([
      streams.partition({ name: 'orders' }, 0),
      streams.deleteTopic({ name: 'orders' }),
      streams.partition({ name: 'orders' }, 0),
      streams.deleteTopic({ name: 'orders' }),
    ])
    expect(results.slice(1)).toEqual([true, expect.anything(), false])
    expect(await streams.partition({ name: 'orders' }, 0)).toBe('unknown-topic')
    const [first] = results
    if (typeof first !== 'object') throw new Error('not opened')
    expect(refused(append(first, batchOf(['a']))).errorCode).toBe(3)
  })

  it('leaves nothing in memory, in SQL or of what was un-packed', async () => {
    const node = await system.start()
    await write(await openTopic(node.streams), batchOf(['a']))
    await write(await openTopic(node.streams, 'kept'), batchOf(['b']))
    await node.streams.deleteTopic({ name: 'orders' })
    expect(node.log.stats.openStreams).toBe(1)
    await node.log.pack()
    const restarted = (await system.start()).streams
    expect((await all(restarted)).map(({ name }) => name)).toEqual(['kept'])
    expect(await readValues(await openPartition(restarted, 'kept'))).toEqual(['0=b'])
  })
})

describe('a database that does not answer', () => {
  /** The real one, but the answer to the next call of a method is lost, after or before it has done its work. */
  const losing = (metadata: Metadata) => {
    const plan: { method?: 'create' | 'delete' | 'byTopic'; done?: boolean } = {}
    const streams = new Proxy(metadata.streams, {
      get(target, method, receiver) {
        const call: unknown = Reflect.get(target, method, receiver)
        if (method !== plan.method || typeof call !== 'function') return call
        return async (...args: unknown[]) => {
          delete plan.method
          if (plan.done) await Reflect.apply(call, target, args)
          throw new MetadataUnavailableError(`calling ${method}`, { cause: new Error('the answer was lost') })
        }
      },
    })
    return {
      plan,
      metadata: { ...metadata, nodes: metadata.nodes, log: metadata.log, streams, close: async () => undefined },
    }
  }

  let system: TestSystem
  let streams: Streams
  let plan: ReturnType<typeof losing>['plan']
  beforeEach(async () => {
    system = await TestSystem.open()
    const lossy = losing(system.metadata)
    plan = lossy.plan
    streams = (await system.start({}, {}, { metadata: lossy.metadata })).streams
  })
  afterEach(() => system.close())

  it('has created the topic after all: so it is told', async () => {
    Object.assign(plan, { method: 'create', done: true })
    expect((await streams.createTopic(topic('orders'))).created).toMatchObject({ name: 'orders' })
  })

  it('has not created the topic: it can be tried again', async () => {
    Object.assign(plan, { method: 'create', done: false })
    await expect(streams.createTopic(topic('orders'))).rejects.toThrow(MetadataUnavailableError)
    expect((await streams.createTopic(topic('orders'))).created).toBeDefined()
  })

  it('has deleted the topic after all: nothing is taken for it any more', async () => {
    const orders = await openTopic(streams)
    const calls: string[] = []
    orders.watch((change) => calls.push(change))
    Object.assign(plan, { method: 'delete', done: true })
    await expect(streams.deleteTopic({ name: 'orders' })).rejects.toThrow(MetadataUnavailableError)
    expect(refused(append(orders, batchOf(['a']))).errorCode).toBe(6)
    expect(await streams.partition({ name: 'orders' }, 0)).toBe('unknown-topic')
    expect(calls).toEqual(['deleted'])
    expect(refused(append(orders, batchOf(['a']))).errorCode).toBe(3)
    expect((await openTopic(streams)).highWatermark).toBe(0)
  })

  it('has not deleted the topic: it goes on as it was', async () => {
    const orders = await openTopic(streams)
    await write(orders, batchOf(['a']))
    Object.assign(plan, { method: 'delete', done: false })
    await expect(streams.deleteTopic({ name: 'orders' })).rejects.toThrow(MetadataUnavailableError)
    expect(refused(append(orders, batchOf(['a']))).errorCode).toBe(6)
    expect(await streams.partition({ name: 'orders' }, 0)).toBe(orders)
    await accepted(append(orders, batchOf(['b']))).committed
    expect(await readValues(orders)).toEqual(['0=a', '1=b'])
    expect(await streams.deleteTopic({ name: 'orders' })).toBe(true)
  })

  it('fails those who ask for a partition, and nobody after them', async () => {
    await streams.createTopic(topic('orders'))
    Object.assign(plan, { method: 'byTopic', done: false })
    await expect(streams.partition({ name: 'orders' }, 0)).rejects.toThrow(MetadataUnavailableError)
    expect(await streams.partition({ name: 'orders' }, 0)).toMatchObject({ topic: 'orders' })
  })
})

const zeroId = '00000000-0000-0000-0000-000000000000'
