import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition, Streams } from '../src/index.ts'
import { append, batchOf, openTopic, readValues, refused, TestSystem, walKinds, write } from './system.ts'

const name = '/_sys/groups/billing'

describe.each(walKinds)('an internal stream over the %s WAL', (kind) => {
  let system: TestSystem
  let streams: Streams
  beforeEach(async () => {
    system = await TestSystem.open(kind)
    streams = (await system.start()).streams
  })
  afterEach(() => system.close())

  const create = async (streamName = name): Promise<Partition> => {
    const opened = await streams.internal.openOrCreate(streamName)
    if (opened === 'not-owner') throw new Error(opened)
    return opened
  }
  const reopen = async (): Promise<Partition> => {
    streams = (await system.start()).streams
    const opened = await streams.internal.open(name)
    if (typeof opened === 'string') throw new Error(opened)
    return opened
  }

  it('is missing until it is made, and then the same for everybody', async () => {
    expect(await streams.internal.open(name)).toBe('missing')
    const [one, other] = await Promise.all([create(), create()])
    expect(other).toBe(one)
    expect(streams.internal.open(name)).toBe(one)
    expect(one).toMatchObject({ topic: name, partition: 0, startOffset: 0, highWatermark: 0 })
  })

  it('is made with all others that are asked for meanwhile, in a transaction or two', async () => {
    await create('/_sys/groups/7')
    system.statements.length = 0
    const names = Array.from({ length: 50 }, (_, index) => `/_sys/groups/${index % 40}`)
    const streamsMade = await Promise.all(names.map(create))
    expect(new Set(streamsMade).size).toBe(40)
    expect(streamsMade.map(({ topic }) => topic)).toEqual(names)
    // Two to open what is there and what was made, one to make, and it may have to be said again one by one.
    expect(system.statements.filter((sql) => /^begin/i.test(sql)).length).toBeLessThanOrEqual(5)
  })

  it('is made once, whoever else makes it and others at the same time', async () => {
    const before = streams
    const { streams: after } = await system.start()
    const asked = [before.internal, after.internal].map((internal, node) =>
      Promise.all([`/_sys/${node}`, '/_sys/both'].map((each) => internal.openOrCreate(each))),
    )
    const [fenced, serving] = await Promise.all(asked)
    expect(fenced).toEqual(['not-owner', 'not-owner'])
    expect(serving).toMatchObject([{ topic: '/_sys/1' }, { topic: '/_sys/both' }])
    const all = await after.internal.list({ prefix: '/_sys/', after: null, limit: 10 })
    expect(all.map((each) => each.name)).toEqual(['/_sys/0', '/_sys/1', '/_sys/both'])
  })

  it('is a partition like any other: appended, read, watched and trimmed, and kept by a crash', async () => {
    const stream = await create()
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    await write(stream, batchOf(['a', 'b']))
    await write(stream, batchOf(['c']))
    expect(changes).toEqual(['advanced', 'advanced'])
    expect(await stream.trim(2)).toBe(2)
    const reopened = await reopen()
    expect(await readValues(reopened)).toEqual(['2=c'])
    expect(reopened.leaderEpoch).toBe(2)
  })

  it('takes a message far larger than a topic does, but not any', async () => {
    const stream = await create()
    const large = batchOf(['x'.repeat(4 * 1024 * 1024)])
    await write(stream, large)
    expect(await readValues(await reopen())).toEqual([`0=${'x'.repeat(4 * 1024 * 1024)}`])
    const again = await create()
    expect(refused(append(again, batchOf(['x'.repeat(17 * 1024 * 1024)]))).errorCode).toBe(10)
  })

  it('is no topic', async () => {
    await create()
    await openTopic(streams, 'orders')
    const topics: string[] = []
    for await (const topic of streams.listTopics()) topics.push(topic.name)
    expect(topics).toEqual(['orders'])
    expect(await streams.partition({ name }, 0)).toBe('unknown-topic')
    expect(await streams.describeTopics([{ name }])).toEqual([undefined])
    expect(await streams.deleteTopic({ name })).toBe(false)
  })

  it('leaves topics alone, whatever they are called', async () => {
    await openTopic(streams, 'orders')
    expect(await streams.internal.open('/_sys/orders')).toBe('missing')
    expect(await streams.internal.list({ prefix: '/_sys/', after: null, limit: 10 })).toEqual([])
  })

  it('is deleted for good: waiters wake, what is in flight fails, the name begins anew', async () => {
    const stream = await create()
    await write(stream, batchOf(['a']))
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    expect(await streams.internal.delete(name)).toBe(true)
    expect(changes).toEqual(['deleted'])
    expect(refused(append(stream, batchOf(['b']))).errorCode).toBe(3)
    expect(await streams.internal.delete(name)).toBe(false)
    streams = (await system.start()).streams
    expect(await streams.internal.open(name)).toBe('missing')
    expect(await readValues(await create())).toEqual([])
  })

  it('is lost to this node when the node closes', async () => {
    const stream = await create()
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    await streams.close()
    expect(changes).toEqual(['lost'])
    expect(await streams.internal.open(name)).toBe('not-owner')
    expect(await streams.internal.openOrCreate(name)).toBe('not-owner')
  })

  it('is listed by prefix, in name order and in pages, with its labels', async () => {
    for (const each of ['/_sys/groups/c', '/_sys/groups/a', '/_sys/other/x', '/_sys/groups/b']) await create(each)
    expect(await streams.internal.label('/_sys/groups/b', { kind: 'consumer' })).toBe(true)
    expect(await streams.internal.label('/_sys/groups/x', {})).toBe(false)
    const prefix = '/_sys/groups/'
    const first = await streams.internal.list({ prefix, after: null, limit: 2 })
    expect(first).toEqual([
      { name: '/_sys/groups/a', labels: {}, isElsewhere: false },
      { name: '/_sys/groups/b', labels: { kind: 'consumer' }, isElsewhere: false },
    ])
    const second = await streams.internal.list({ prefix, after: '/_sys/groups/b', limit: 2 })
    expect(second).toEqual([{ name: '/_sys/groups/c', labels: {}, isElsewhere: false }])
  })
})

describe('an idle internal stream', () => {
  let system: TestSystem
  afterEach(() => system.close())

  it('is dropped from memory and opened again when it is asked for, but not while somebody watches it', async () => {
    system = await TestSystem.open()
    const { log, streams } = await system.start({}, { idleStreamMs: 1000 })
    const stream = await streams.internal.openOrCreate(name)
    if (stream === 'not-owner') throw new Error(stream)
    await write(stream, batchOf(['a']))
    await log.pack()
    const stop = stream.watch(() => undefined)
    system.clock.pass(2000)
    await log.maintain()
    expect(streams.internal.open(name)).toBe(stream)
    stop()
    system.clock.pass(2000)
    await log.maintain()
    expect(log.stats.openStreams).toBe(0)
    const again = await streams.internal.open(name)
    if (typeof again === 'string') throw new Error(again)
    expect(await readValues(again)).toEqual(['0=a'])
  })
})

describe('a deletion watcher', () => {
  it('is told of deleted topics before the deletion is answered, until it stops', async () => {
    const system = await TestSystem.open()
    const { streams } = await system.start()
    const told: (string | null)[] = []
    const stop = streams.watchTopicDeletions(({ name }) => told.push(name))
    for (const topic of ['orders', 'bills']) await openTopic(streams, topic)
    await streams.deleteTopic({ name: 'nothing' })
    await streams.deleteTopic({ name: 'orders' })
    expect(told).toEqual(['orders'])
    stop()
    await streams.deleteTopic({ name: 'bills' })
    expect(told).toEqual(['orders'])
    await system.close()
  })
})
