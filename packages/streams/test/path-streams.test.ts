import { BatchView } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HttpProducerStamp, Streams } from '../src/index.ts'
import { appended, created, newStream, opened, requests, values } from './path-system.ts'
import { append, batchOf, openPartition, openTopic, readBatches, readValues, refused, TestSystem } from './system.ts'

describe('a stream made by its path', () => {
  let system: TestSystem
  let streams: Streams
  beforeEach(async () => {
    system = await TestSystem.open()
    streams = (await system.start()).streams
  })
  afterEach(() => system.close())

  it('is a topic where its name can be one, with the same records for both', async () => {
    expect(created(await streams.paths.create(newStream('/orders/eu')))).toMatchObject({
      name: '/orders/eu',
      topic: 'orders.eu',
      contentType: 'text/plain',
      closed: false,
      startOffset: 0,
      nextOffset: 0,
    })
    const stream = await opened(streams, '/orders/eu')
    expect(streams.paths.open('/orders/eu')).toBe(stream)
    const partition = await openPartition(streams, 'orders.eu')
    expect(partition).toBe(stream)
    await appended(stream.appendRecords(values('a', 'b'))).committed
    await append(partition, batchOf(['c'])).accepted?.committed
    expect(await readValues(partition)).toEqual(['0=a', '1=b', '2=c'])
    expect(await streams.paths.describe('/orders/eu')).toMatchObject({ nextOffset: 3 })
  })

  it('is what a Kafka client made', async () => {
    await openTopic(streams, 'orders')
    const stream = await opened(streams, '/orders')
    expect(stream).toMatchObject({ name: '/orders', topic: 'orders', contentType: 'application/octet-stream' })
    expect((await streams.paths.create(newStream('/orders', { matches: () => false }))).kind).toBe('conflict')
  })

  it('is there with its first records, or not at all', async () => {
    const stream = created(await streams.paths.create(newStream('/a', { records: values('x', 'y'), closed: true })))
    expect(stream).toMatchObject({ nextOffset: 2, closed: true })
    expect(await readValues(await opened(streams, '/a'))).toEqual(['0=x', '1=y'])
    const tooLarge = { records: [{ value: Buffer.alloc(17 * 1024 * 1024) }] }
    expect((await streams.paths.create(newStream('/b', tooLarge))).kind).toBe('invalid')
    expect(await streams.paths.describe('/b')).toBe('missing')
  })

  it('is made together with those asked for at the same time, each with its own outcome', async () => {
    created(await streams.paths.create(newStream('/3')))
    await openTopic(streams, 'x.y')
    const names = [...Array.from({ length: 40 }, (_, index) => `/${index}`), '/x/y', '/x_y']
    system.statements.length = 0
    const outcomes = await Promise.all(
      names.map((name, index) =>
        streams.paths.create(
          newStream(name, {
            records: index % 2 === 0 ? values(name) : [],
            closed: index % 4 === 0,
            matches: () => false,
          }),
        ),
      ),
    )
    const commits = system.statements.filter((sql) => /^commit/i.test(sql)).length
    expect(outcomes.map(({ kind }) => kind)).toEqual(names.map((name) => (name === '/3' ? 'conflict' : 'created')))
    // Made, opened and revealed: a round or two of each, not forty. Where a topic is taken, those of that round are made one by one.
    expect(commits).toBeLessThan(names.length + 20)
    expect(await streams.paths.describe('/4')).toMatchObject({ topic: '4', nextOffset: 1, closed: true })
    expect(await streams.paths.describe('/x/y')).toMatchObject({ topic: null })
    expect(await readValues(await opened(streams, '/38'))).toEqual(['0=/38'])
  })

  it('asks SQL for nothing while it is open', async () => {
    created(await streams.paths.create(newStream('/a', { records: values('x') })))
    const stream = await opened(streams, '/a')
    system.statements.length = 0
    await appended(stream.appendRecords(values('y'))).committed
    expect(await readValues(stream)).toEqual(['0=x', '1=y'])
    expect(await streams.paths.describe('/a')).toMatchObject({ nextOffset: 2, ownerNodeId: 1, leaderEpoch: 1 })
    expect(await streams.paths.open('/a')).toBe(stream)
    expect(system.statements).toEqual([])
  })

  it('takes nothing once it is closed, from nobody', async () => {
    await streams.paths.create(newStream('/a'))
    const stream = await opened(streams, '/a')
    const last = appended(stream.appendRecords(values('x'), { close: true }))
    expect(stream.closed).toBe(false)
    expect(stream.appendRecords(values('y'))).toEqual({ kind: 'refused', why: { kind: 'closed', nextOffset: 1 } })
    await last.committed
    expect(stream.closed).toBe(true)
    expect(refused(append(await openPartition(streams, 'a'), batchOf(['z'])))).toMatchObject({ errorCode: 44 })
    expect(await stream.closeNow()).toEqual({ kind: 'closed', nextOffset: 1 })
  })

  it('knows its producers', async () => {
    await streams.paths.create(newStream('/a'))
    const stream = await opened(streams, '/a')
    const put = (producer: HttpProducerStamp, text = 'v') => stream.appendRecords(values(text), { producer })
    await appended(put(requests('p', 0, 0))).committed
    expect(put(requests('p', 0, 0))).toMatchObject({ kind: 'duplicate', of: { baseOffset: 0, nextOffset: 1 } })
    expect(put(requests('p', 0, 2))).toMatchObject({ why: { kind: 'sequence-gap', expectedSequence: 1 } })
    expect(put(requests('q', 0, 1))).toMatchObject({ why: { kind: 'sequence-gap', expectedSequence: 0 } })
    expect(put(requests('p', 1, 1))).toMatchObject({ why: { kind: 'epoch-not-from-zero' } })
    expect(appended(put(requests('p', 1, 0)))).toMatchObject({ baseOffset: 1 })
    expect(put(requests('p', 0, 1))).toMatchObject({ why: { kind: 'old-epoch', currentEpoch: 1 } })
    expect(await stream.closeNow(requests('p', 1, 1))).toEqual({ kind: 'closed', nextOffset: 2 })
    expect(await stream.closeNow(requests('p', 1, 1))).toMatchObject({ kind: 'duplicate', closed: true })
    expect(await stream.closeNow(requests('p', 1, 2))).toMatchObject({ why: { kind: 'closed', nextOffset: 2 } })
  })

  it('is listed, deleted, and made anew', async () => {
    for (const name of ['/b', '/a', '/c/d']) await streams.paths.create(newStream(name))
    await streams.internal.openOrCreate('/_sys/groups/g')
    const names = async () => (await streams.paths.list({ prefix: '', after: null, limit: 9 })).map(({ name }) => name)
    expect(await names()).toEqual(['/a', '/b', '/c/d'])
    const stream = await opened(streams, '/b')
    const changes: string[] = []
    stream.watch((change) => changes.push(change))
    const topics: (string | null)[] = []
    streams.watchTopicDeletions(({ name }) => topics.push(name))
    expect(await streams.paths.delete('/b')).toBe('deleted')
    expect(await streams.paths.delete('/b')).toBe('missing')
    expect([changes, topics]).toEqual([['deleted'], ['b']])
    expect(await names()).toEqual(['/a', '/c/d'])
    const again = created(await streams.paths.create(newStream('/b')))
    expect(again.incarnation).not.toBe(stream.incarnation)
  })

  it('has timestamps that never go back', async () => {
    await streams.paths.create(newStream('/a'))
    const stream = await opened(streams, '/a')
    const nowMs = system.clock.nowMs()
    await appended(stream.appendRecords([{ value: 'a', timestamp: nowMs + 5 }, { value: 'b' }])).committed
    const third = appended(stream.appendRecords([{ value: 'c', timestamp: 7 }]))
    expect(third.timestampMs).toBe(nowMs + 5)
    await third.committed
    const batches = await readBatches(stream)
    expect(batches.map((batch) => new BatchView(batch.batchBytes()).maxTimestamp)).toEqual([nowMs + 5, nowMs + 5])
  })
})
