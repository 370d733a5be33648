import { AppendFailedError } from '@pico/log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Partition, PartitionGoneError } from '../src/index.ts'
import {
  accepted,
  append,
  batchOf,
  type Node,
  openPartition,
  openTopic,
  producerBatch,
  readBatches,
  readValues,
  refused,
  TestSystem,
  walKinds,
  write,
} from './system.ts'

describe.each(walKinds)('a partition, over a %s WAL', (kind) => {
  let system: TestSystem
  let node: Node
  let orders: Partition
  beforeEach(async () => {
    system = await TestSystem.open(kind)
    node = await system.start()
    orders = await openTopic(node.streams)
  })
  afterEach(() => system.close())

  it('knows what it is', async () => {
    expect(orders).toMatchObject({
      topic: 'orders',
      partition: 0,
      leaderEpoch: 1,
      startOffset: 0,
      highWatermark: 0,
      sizeBytes: 0,
    })
    expect(orders.topicId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const bytes = batchOf(['a', 'b'])
    await write(orders, bytes)
    expect(orders).toMatchObject({ highWatermark: 2, sizeBytes: bytes.length })
  })

  // kafka-compat gotcha 12: what is stored is what is given, wherever the reader begins.
  it('gives the whole batch that holds the offset, with the offsets it was stored with', async () => {
    await write(orders, batchOf(['a', 'b', 'c']))
    await write(orders, batchOf(['d']))
    const [first] = await readBatches(orders, 1)
    expect(first?.baseOffset).toBe(0)
    const read = await orders.read(2, 1)
    expect(read).toMatchObject({ baseOffset: 0, endOffset: 3 })
  })

  it('says out of range below its start and past its end, and nothing yet at its end', async () => {
    await write(orders, batchOf(['a', 'b', 'c']))
    expect(orders.read(3, 1000)).toBeNull()
    expect(orders.read(4, 1000)).toBe('out-of-range')
    expect(orders.read(-1, 1000)).toBe('out-of-range')
    expect(await orders.trim(2)).toBe(2)
    expect(orders.read(1, 1000)).toBe('out-of-range')
    expect(await orders.read(2, 1000)).toMatchObject({ baseOffset: 0, endOffset: 3 })
  })

  it('is trimmed up to its end, never down, and stays so', async () => {
    await write(orders, batchOf(['a', 'b', 'c']))
    expect(await orders.trim(4)).toBe('out-of-range')
    expect(await orders.trim(-2)).toBe('out-of-range')
    expect(await orders.trim(2)).toBe(2)
    expect(await orders.trim(1)).toBe(2)
    expect(await orders.trim(-1)).toBe(3)
    expect(await write(orders, batchOf(['d']))).toBe(3)
    const again = await openPartition((await system.start()).streams)
    expect(again).toMatchObject({ startOffset: 3, highWatermark: 4 })
    expect(await readValues(again)).toEqual(['3=d'])
  })

  it('calls a watcher once per flush, until it stops watching', async () => {
    const calls: string[] = []
    const stop = orders.watch((change) => calls.push(`one: ${change}`))
    orders.watch((change) => calls.push(`two: ${change}`))
    await Promise.all(['a', 'b', 'c'].map((value) => write(orders, batchOf([value]))))
    expect(calls).toEqual(['one: advanced', 'two: advanced'])
    stop()
    await write(orders, batchOf(['d']))
    expect(calls).toEqual(['one: advanced', 'two: advanced', 'two: advanced'])
  })

  it('lets watchers come and go while they are being called', async () => {
    const calls: string[] = []
    const watchOn = () => {
      const stop = orders.watch(() => {
        stop()
        stopOther()
        calls.push('called')
        watchOn()
      })
    }
    watchOn()
    const stopOther = orders.watch(() => calls.push('never: the first one stops it'))
    await write(orders, batchOf(['a']))
    expect(calls).toEqual(['called'])
    await write(orders, batchOf(['b']))
    expect(calls).toEqual(['called', 'called'])
  })

  it('does not wake watchers for a flush that failed', async () => {
    const calls: string[] = []
    orders.watch((change) => calls.push(change))
    system.failFlushes()
    await expect(accepted(append(orders, batchOf(['a']))).committed).rejects.toThrow(AppendFailedError)
    expect(calls).toEqual([])
  })

  it('wakes its watchers when it is deleted, and takes and gives nothing from then on', async () => {
    await write(orders, batchOf(['a']))
    const calls: string[] = []
    orders.watch((change) => calls.push(change))
    expect(await node.streams.deleteTopic({ name: 'orders' })).toBe(true)
    expect(calls).toEqual(['deleted'])
    expect(refused(append(orders, batchOf(['b'])))).toMatchObject({ errorCode: 3 })
    expect(refused(orders.appendMessageSet(new Uint8Array(20)))).toMatchObject({ errorCode: 3 })
    await expect(orders.read(0, 1000)).rejects.toThrow(PartitionGoneError)
    await expect(orders.offsetForTimestamp(0)).rejects.toThrow(PartitionGoneError)
    await expect(orders.trim(0)).rejects.toThrow(PartitionGoneError)
  })

  it('rejects what is in flight when it is deleted', async () => {
    system.holdFlushes()
    const plain = accepted(append(orders, batchOf(['a'])))
    const idempotent = accepted(append(orders, producerBatch(1, 0)))
    await node.streams.deleteTopic({ name: 'orders' })
    system.store.heal()
    await expect(plain.committed).rejects.toThrow(AppendFailedError)
    await expect(idempotent.committed).rejects.toThrow(AppendFailedError)
  })

  it('is lost when its node is fenced: in flight and from then on', async () => {
    await write(orders, batchOf(['a']))
    const calls: string[] = []
    orders.watch((change) => calls.push(change))
    await system.start()
    // The local WAL learns of it where it needs SQL: a trim is such a place on both.
    await expect(orders.trim(1)).rejects.toThrow(PartitionGoneError)
    expect(calls).toEqual(['lost'])
    expect(refused(append(orders, batchOf(['b'])))).toMatchObject({ errorCode: 6 })
    expect(node.streams.partition({ name: 'orders' }, 0)).toBe('not-owner')
    await expect(orders.read(0, 1000)).rejects.toThrow(PartitionGoneError)
  })

  it('is lost when its node closes, after what is in flight has become durable', async () => {
    const calls: string[] = []
    orders.watch((change) => calls.push(change))
    const { committed } = accepted(append(orders, batchOf(['a'])))
    await node.streams.close()
    await committed
    expect(calls).toContain('lost')
    expect(refused(append(orders, batchOf(['b'])))).toMatchObject({ errorCode: 6 })
    expect(node.streams.partition({ name: 'orders' }, 0)).toBe('not-owner')
  })

  it('is refused as not owned when the log is closed under it', async () => {
    await node.log.close()
    expect(refused(append(orders, batchOf(['b'])))).toMatchObject({ errorCode: 6, message: 'the log is closed' })
    expect(refused(append(orders, producerBatch(1, 0)))).toMatchObject({ errorCode: 6 })
    expect(orders.producers()).toEqual([])
  })
})

describe('leader epochs', () => {
  let system: TestSystem
  beforeEach(async () => {
    system = await TestSystem.open()
  })
  afterEach(() => system.close())

  it('go up with every owner, are in the batches, and end where the next begins', async () => {
    let orders = await openTopic((await system.start()).streams)
    await write(orders, batchOf(['a', 'b']))
    for (const values of [['c'], ['d', 'e']]) {
      orders = await openPartition((await system.start()).streams)
      await write(orders, batchOf(values))
    }
    expect(orders.leaderEpoch).toBe(3)
    expect((await readBatches(orders)).map((batch) => batch.partitionLeaderEpoch)).toEqual([1, 2, 3])
    expect(await orders.endOfEpoch(3)).toEqual({ leaderEpoch: 3, endOffset: 5 })
    expect(await orders.endOfEpoch(2)).toEqual({ leaderEpoch: 2, endOffset: 3 })
    expect(await orders.endOfEpoch(1)).toEqual({ leaderEpoch: 1, endOffset: 2 })
    expect(await orders.endOfEpoch(0)).toEqual({ leaderEpoch: 0, endOffset: 0 })
    expect(await orders.endOfEpoch(4)).toEqual({ leaderEpoch: -1, endOffset: -1 })
    expect(await orders.endOfEpoch(-1)).toEqual({ leaderEpoch: -1, endOffset: -1 })
  })

  it('of which nothing was written are answered by the one before', async () => {
    let orders = await openTopic((await system.start()).streams)
    await write(orders, batchOf(['a', 'b']))
    await openPartition((await system.start()).streams)
    orders = await openPartition((await system.start()).streams)
    await write(orders, batchOf(['c']))
    expect(orders.leaderEpoch).toBe(3)
    expect(await orders.endOfEpoch(2)).toEqual({ leaderEpoch: 1, endOffset: 2 })
  })

  it('are read from SQL once, and only when somebody asks for a past one', async () => {
    await openTopic((await system.start()).streams)
    const orders = await openPartition((await system.start()).streams)
    const asked = () =>
      system.statements.filter((sql) => /from "?stream_epochs"?/.test(sql) && /^select/i.test(sql)).length
    const before = asked()
    await orders.endOfEpoch(2)
    await orders.endOfEpoch(7)
    expect(asked()).toBe(before)
    await Promise.all([orders.endOfEpoch(1), orders.endOfEpoch(1)])
    await orders.endOfEpoch(0)
    expect(asked()).toBe(before + 1)
  })
})
