import { BatchView, records } from '@pico/record-batch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ForkPoint, Streams } from '../src/index.ts'
import { appended, created, newStream, opened, put, requests, values } from './path-system.ts'
import {
  append,
  batchOf,
  batchOfRecords,
  type Node,
  openPartition,
  readBatches,
  readValues,
  TestSystem,
  walKinds,
  write,
} from './system.ts'

describe.each(walKinds)('a fork, over a %s WAL', (kind) => {
  let system: TestSystem
  let node: Node
  let streams: Streams
  const restart = async () => {
    node = await system.start()
    streams = node.streams
  }
  beforeEach(async () => {
    system = await TestSystem.open(kind)
    await restart()
  })
  afterEach(() => system.close())

  const at = (offset: number, source = '/source', subOffset = 0): ForkPoint => ({ source, offset, subOffset })
  const fork = async (name: string, point: ForkPoint, texts: string[] = []) =>
    created(await streams.paths.create(newStream(name, { fork: point, records: values(...texts) })))
  const read = async (name: string) => readValues(await opened(streams, name))
  const sourceOf = async (...batches: string[][]) => {
    await streams.paths.create(newStream('/source'))
    const stream = await opened(streams, '/source')
    for (const batch of batches) await put(stream, ...batch)
    return stream
  }

  it.each(['as it was written', 'packed', 'after a crash', 'compacted'])(
    'has what its source had below the point, and goes on by itself: %s',
    async (when) => {
      const source = await sourceOf(['a'], ['b'], ['c'])
      if (when === 'packed' || when === 'compacted') await node.log.pack()
      if (when === 'compacted') {
        await put(source, 'd')
        await node.log.pack()
        await node.log.maintain()
      }
      if (when === 'after a crash') await restart()
      expect(await fork('/fork', at(2))).toMatchObject({
        startOffset: 0,
        nextOffset: 2,
        fork: { source: '/source', offset: 2, subOffset: 0 },
      })
      expect(await read('/fork')).toEqual(['0=a', '1=b'])
      await put(await opened(streams, '/fork'), 'x')
      await put(await opened(streams, '/source'), 'y')
      expect(await read('/fork')).toEqual(['0=a', '1=b', '2=x'])
      await restart()
      expect(await read('/fork')).toEqual(['0=a', '1=b', '2=x'])
      expect((await read('/source')).slice(0, 3)).toEqual(['0=a', '1=b', '2=c'])
    },
  )

  it('may end in the middle of a batch, whose records it then has exactly', async () => {
    const source = await sourceOf(['a'])
    const kafka = batchOfRecords(
      [
        { key: 'k', value: 'b', timestamp: 1_700_000_000_005, headers: [{ key: 'h', value: null }] },
        { key: null, value: null, timestamp: 1_700_000_000_001 },
        { value: 'd', timestamp: 1_700_000_000_003 },
      ],
      { codec: 'gzip' },
    )
    await write(source, kafka)
    for (const packed of [false, true]) {
      if (packed) await node.log.pack()
      const name = `/fork-${packed}`
      expect(await fork(name, at(3))).toMatchObject({ nextOffset: 3 })
      const stream = await opened(streams, name)
      const [, batch] = await readBatches(stream)
      const kept = [...records(batch ?? new BatchView(kafka))]
      expect(kept.map(({ offset, timestamp }) => [offset, timestamp])).toEqual([
        [1, 1_700_000_000_005],
        [2, 1_700_000_000_001],
      ])
      expect(kept[0]?.headers.map(({ key }) => Buffer.from(key).toString())).toEqual(['h'])
      expect(batch?.isCrcValid()).toBe(true)
      expect(await put(stream, 'x')).toBe(3)
      expect(await readValues(stream)).toEqual(['0=a', '1=b', '2=null', '3=x'])
    }
  })

  it('may begin with records of its own after what it shares', async () => {
    await sourceOf(['a', 'b', 'c'])
    await fork('/fork', at(1), ['x', 'y'])
    expect(await read('/fork')).toEqual(['0=a', '1=x', '2=y'])
    expect(await read('/source')).toEqual(['0=a', '1=b', '2=c'])
  })

  it('is refused beyond the tail and below the start of its source, and of no source', async () => {
    const source = await sourceOf(['a'], ['b'])
    const outcome = async (point: ForkPoint) => (await streams.paths.create(newStream('/fork', { fork: point }))).kind
    await source.trim(1)
    expect(await outcome(at(3))).toBe('fork-beyond-tail')
    expect(await outcome(at(0))).toBe('fork-below-start')
    expect(await outcome(at(0, '/nothing'))).toBe('source-missing')
    expect(await outcome(at(0, '/_sys/groups/g'))).toBe('source-missing')
    expect(await fork('/fork', at(1))).toMatchObject({ startOffset: 1, nextOffset: 1 })
    expect(await put(await opened(streams, '/fork'), 'x')).toBe(1)
  })

  it('begins where its source does, also inside a batch', async () => {
    const source = await sourceOf(['a', 'b', 'c', 'd'], ['e'])
    await node.log.pack()
    await source.trim(2)
    await fork('/all', at(5))
    await fork('/some', at(3))
    await fork('/none', at(2))
    for (const [name, kept] of [
      ['/all', ['2=c', '3=d', '4=e']],
      ['/some', ['2=c']],
      ['/none', []],
    ] as const) {
      const stream = await opened(streams, name)
      expect(stream.startOffset).toBe(2)
      const found = (await readBatches(stream)).flatMap((batch) => [...records(batch)])
      const readable = found.filter(({ offset }) => offset >= stream.startOffset)
      expect(readable.map(({ offset, value }) => `${offset}=${Buffer.from(value ?? []).toString()}`)).toEqual(kept)
    }
  })

  it('keeps what it shares when its source is trimmed, compacted, or deleted', async () => {
    const source = await sourceOf(['a'], ['b'], ['c', 'd', 'e'], ['f'])
    await fork('/fork', at(4))
    await source.trim(6)
    await put(source, 'g')
    await node.log.pack()
    await node.log.maintain()
    expect(await read('/fork')).toEqual(['0=a', '1=b', '2=c', '3=d'])
    expect(await streams.paths.delete('/source')).toBe('deleted')
    await node.log.maintain()
    await node.log.maintain()
    expect(await read('/fork')).toEqual(['0=a', '1=b', '2=c', '3=d'])
    await restart()
    await node.log.maintain()
    expect(await read('/fork')).toEqual(['0=a', '1=b', '2=c', '3=d'])
    expect(await streams.paths.open('/source')).toBe('gone')
    expect(await streams.paths.describe('/source')).toBe('gone')
    expect(await streams.paths.delete('/source')).toBe('gone')
    expect((await streams.paths.create(newStream('/source'))).kind).toBe('conflict')
    expect((await streams.paths.create(newStream('/other', { fork: at(1) }))).kind).toBe('source-gone')
    expect((await streams.paths.list({ prefix: '/', after: null, limit: 9 })).map(({ name }) => name)).toEqual([
      '/fork',
    ])
    expect(await streams.paths.delete('/fork')).toBe('deleted')
    expect(await streams.paths.describe('/source')).toBe('missing')
    await node.log.maintain()
    await node.log.maintain()
    expect((await system.metadata.log.totals()).objects).toBe(0)
  })

  it('may be forked itself, and outlive both', async () => {
    await sourceOf(['a', 'b'], ['c'])
    await fork('/one', at(2), ['x', 'y'])
    await fork('/two', at(3, '/one'), ['z'])
    expect(await read('/two')).toEqual(['0=a', '1=b', '2=x', '3=z'])
    for (const name of ['/source', '/one']) expect(await streams.paths.delete(name)).toBe('deleted')
    await node.log.pack()
    await node.log.maintain()
    await restart()
    expect(await read('/two')).toEqual(['0=a', '1=b', '2=x', '3=z'])
    await streams.paths.delete('/two')
    for (const name of ['/source', '/one', '/two']) expect(await streams.paths.describe(name)).toBe('missing')
  })

  it('knows nothing of its source producers, Stream-Seq and closing', async () => {
    const source = await sourceOf()
    const last = { producer: requests('p', 3, 0), streamSeq: 'm', close: true }
    await appended(source.appendRecords(values('a'), last)).committed
    expect(await fork('/fork', at(1))).toMatchObject({ closed: false })
    const stream = await opened(streams, '/fork')
    const first = { producer: requests('p', 1, 0), streamSeq: 'b' }
    expect(appended(stream.appendRecords(values('b'), first)).baseOffset).toBe(1)
  })

  it('is a topic for Kafka clients, with leader epochs that go on', async () => {
    await sourceOf(['a'], ['b'])
    await restart()
    await fork('/orders', at(1))
    const partition = await openPartition(streams, 'orders')
    expect(partition.leaderEpoch).toBe((await opened(streams, '/source')).leaderEpoch + 1)
    await append(partition, batchOf(['x'])).accepted?.committed
    expect((await readBatches(partition)).map((batch) => batch.partitionLeaderEpoch)).toEqual([
      1,
      partition.leaderEpoch,
    ])
    expect(await partition.endOfEpoch(1)).toEqual({ leaderEpoch: 1, endOffset: 1 })
    expect((await partition.offsetOfMaxTimestamp())?.offset).toBe(0)
  })

  it('leaves nothing behind when a crash comes before it is whole', async () => {
    await sourceOf(['a', 'b'])
    system.holdFlushes()
    const lost = streams.paths.create(newStream('/fork', { fork: at(1) }))
    lost.catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await streams.paths.describe('/fork')).toBe('missing')
    system.store.heal()
    await restart()
    expect(await streams.paths.describe('/fork')).toBe('missing')
    expect(await streams.createTopic({ name: 'fork', partitions: 1, config: {}, validateOnly: false })).toMatchObject({
      created: { name: 'fork' },
    })
  })
})
