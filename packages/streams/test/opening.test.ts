import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProducerStateUnreadableError, recordBatchEntries, type Streams } from '../src/index.ts'
import { batchOf, type Node, openPartition, openTopic, producerBatch, readValues, TestSystem, write } from './system.ts'

describe('opening partitions', () => {
  let system: TestSystem
  beforeEach(async () => {
    system = await TestSystem.open()
  })
  afterEach(() => system.close())

  const create = async (streams: Streams, names: readonly string[]) => {
    for (const name of names) await streams.createTopic({ name, partitions: 1, config: {}, validateOnly: false })
  }
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `topic-${index}`)

  it('happens once for all who ask, who get the same one, and later ones at once', async () => {
    const { streams } = await system.start()
    await create(streams, ['orders'])
    const asked = [1, 2, 3].map(() => streams.partition({ name: 'orders' }, 0))
    expect(asked.every((one) => one instanceof Promise)).toBe(true)
    const [first, second, third] = await Promise.all(asked)
    expect(first).toMatchObject({ topic: 'orders' })
    expect(second).toBe(first)
    expect(third).toBe(first)
    expect(streams.partition({ name: 'orders' }, 0)).toBe(first)
    if (typeof first !== 'object') throw new Error('not opened')
    expect(streams.partition({ topicId: first.topicId }, 0)).toBe(first)
  })

  it('is one query and one opening for all who ask together', async () => {
    const { streams } = await system.start()
    const names = numbered(50)
    await create(streams, names)
    system.statements.length = 0
    await Promise.all(names.map((name) => openPartition(streams, name)))
    expect(system.statements.filter((sql) => /^begin/i.test(sql)).length).toBeLessThanOrEqual(2)
  })

  it('answers in the order of the questions, more than one batch of them too', async () => {
    const { streams } = await system.start({ openBatchMax: 4 })
    const names = numbered(10)
    await create(streams, names)
    const answered: string[] = []
    const asking = names.map(async (name) => {
      await openPartition(streams, name)
      answered.push(name)
    })
    await Promise.all(asking)
    expect(answered).toEqual(names)
  })

  it('says what is missing', async () => {
    const { streams } = await system.start()
    await create(streams, ['orders'])
    expect(await streams.partition({ name: 'nothing' }, 0)).toBe('unknown-topic')
    expect(await streams.partition({ topicId: '11111111-1111-4111-8111-111111111111' }, 0)).toBe('unknown-topic-id')
    expect(await streams.partition({ name: 'orders' }, 1)).toBe('unknown-partition')
    expect(await streams.partition({ name: 'orders' }, -1)).toBe('unknown-partition')
    expect(await openPartition(streams)).toBeDefined()
  })

  it('is no matter of describing: ten thousand topics are told, with their epochs, and none is opened', async () => {
    const names = numbered(10_000)
    const rows = names.map((name, index) => ({
      name: `/${name}`,
      topic: name,
      partition: 0,
      topicId: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      contentType: '',
      config: {},
    }))
    await system.metadata.streams.create(rows, 0)
    const node = await system.start()
    const described = await node.streams.describeTopics(names.map((name) => ({ name })))
    expect(described.every((topic) => topic?.partitions[0]?.leaderEpoch === 1)).toBe(true)
    let listed = 0
    for await (const _ of node.streams.listTopics()) listed++
    expect(listed).toBe(10_000)
    expect(node.log.stats.openStreams).toBe(0)
    expect(node.streams.partition({ name: 'topic-0' }, 0)).toBeInstanceOf(Promise)
  })

  it('goes on synchronously for a partition whose topic left the cache and came back', async () => {
    const { streams } = await system.start({ cachedTopicsMax: 2 })
    await create(streams, ['a', 'b', 'c'])
    const a = await openPartition(streams, 'a')
    for (const name of ['b', 'c']) await openPartition(streams, name)
    expect(await streams.partition({ name: 'a' }, 0)).toBe(a)
    expect(streams.partition({ name: 'a' }, 0)).toBe(a)
  })

  it('hands out producer ids that never come again', async () => {
    const { streams } = await system.start({ producerIdBlock: 3 })
    const ids = await Promise.all(Array.from({ length: 10 }, () => streams.allocateProducerId()))
    const later = await (await system.start({ producerIdBlock: 3 })).streams.allocateProducerId()
    expect(new Set([...ids, later]).size).toBe(11)
    expect(Math.min(...ids)).toBeGreaterThan(0)
  })

  it('fails for a stream whose producers cannot be read, and for no other', async () => {
    const damaging = { ...recordBatchEntries, fold: () => Buffer.of(99) }
    const damaged = await system.start({}, {}, { format: damaging })
    await write(await openTopic(damaged.streams, 'broken'), producerBatch(1, 0))
    await damaged.log.pack()
    const { streams } = await system.start()
    await create(streams, ['fine'])
    const [bad, good] = await Promise.allSettled([openPartition(streams, 'broken'), openPartition(streams, 'fine')])
    expect(bad).toMatchObject({ status: 'rejected', reason: expect.any(ProducerStateUnreadableError) })
    expect(good.status).toBe('fulfilled')
  })
})

describe('an idle partition', () => {
  let system: TestSystem
  let node: Node
  beforeEach(async () => {
    system = await TestSystem.open()
    node = await system.start({}, { idleStreamMs: 1000 })
  })
  afterEach(() => system.close())

  it('is dropped from memory, and found again as it was', async () => {
    const before = await openTopic(node.streams)
    await write(before, producerBatch(1, 0))
    await node.log.pack()
    system.clock.pass(1001)
    await node.log.maintain()
    expect(node.log.stats.openStreams).toBe(0)
    expect(before.append(batchOf(['x']), { zstdAllowed: true })).toMatchObject({ refused: { errorCode: 6 } })
    const after = await openPartition(node.streams)
    expect(after).not.toBe(before)
    expect(after.leaderEpoch).toBe(before.leaderEpoch)
    expect(after.append(producerBatch(1, 0), { zstdAllowed: true })).toMatchObject({ accepted: { baseOffset: 0 } })
    await write(after, producerBatch(1, 1))
    expect(await readValues(after)).toEqual(['0=v0.0', '1=v1.0'])
  })

  it('is kept while somebody waits on it', async () => {
    const orders = await openTopic(node.streams)
    const calls: string[] = []
    const stop = orders.watch((change) => calls.push(change))
    system.clock.pass(1001)
    await node.log.maintain()
    expect(node.streams.partition({ name: 'orders' }, 0)).toBe(orders)
    await write(orders, batchOf(['a']))
    expect(calls).toEqual(['advanced'])
    stop()
    await node.log.pack()
    system.clock.pass(1001)
    await node.log.maintain()
    expect(node.log.stats.openStreams).toBe(0)
    expect(calls).toEqual(['advanced'])
  })
})
