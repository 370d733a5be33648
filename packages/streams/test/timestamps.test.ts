import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Partition } from '../src/index.ts'
import { batchOfRecords, type Node, openPartition, openTopic, TestSystem, walKinds, write } from './system.ts'

const batchAt = (times: readonly number[], codec: 'none' | 'gzip' = 'none') =>
  batchOfRecords(
    times.map((timestamp) => ({ timestamp, value: `at ${timestamp}` })),
    { codec },
  )

describe.each(walKinds)('looking up offsets by time, over a %s WAL', (kind) => {
  let system: TestSystem
  let node: Node
  let orders: Partition
  beforeEach(async () => {
    system = await TestSystem.open(kind)
    node = await system.start()
    orders = await openTopic(node.streams)
  })
  afterEach(() => system.close())

  // kafka-compat gotcha 19: the first at or after, and nothing past the end.
  it('finds the first record at or after a time, inside a compressed batch too', async () => {
    await write(orders, batchAt([2, 4]))
    await write(orders, batchAt([6, 8, 10], 'gzip'))
    const at = async (timestampMs: number) => {
      const hit = await orders.offsetForTimestamp(timestampMs)
      return hit && [hit.offset, hit.timestampMs]
    }
    expect(await at(0)).toEqual([0, 2])
    expect(await at(2)).toEqual([0, 2])
    expect(await at(3)).toEqual([1, 4])
    expect(await at(7)).toEqual([3, 8])
    expect(await at(10)).toEqual([4, 10])
    expect(await at(11)).toBeNull()
    expect(await orders.offsetForTimestamp(3)).toMatchObject({ leaderEpoch: orders.leaderEpoch })
  })

  it('goes by offset order where times do not ascend', async () => {
    await write(orders, batchAt([5, 9, 3]))
    await write(orders, batchAt([7, 1]))
    expect(await orders.offsetForTimestamp(6)).toMatchObject({ offset: 1, timestampMs: 9 })
    expect(await orders.offsetForTimestamp(4)).toMatchObject({ offset: 0, timestampMs: 5 })
  })

  it('finds nothing in an empty log, nor where no record has a time', async () => {
    expect(await orders.offsetForTimestamp(0)).toBeNull()
    expect(await orders.offsetOfMaxTimestamp()).toBeNull()
    await write(orders, batchOfRecords([{ value: 'a' }]))
    expect(await orders.offsetForTimestamp(0)).toBeNull()
    expect(await orders.offsetOfMaxTimestamp()).toBeNull()
  })

  it('begins at the start of the log, also where that lies inside a batch', async () => {
    await write(orders, batchAt([5, 9, 3]))
    await write(orders, batchAt([4, 8]))
    await write(orders, batchAt([6]))
    await orders.trim(2)
    expect(await orders.offsetForTimestamp(3)).toMatchObject({ offset: 2, timestampMs: 3 })
    expect(await orders.offsetForTimestamp(7)).toMatchObject({ offset: 4, timestampMs: 8 })
    expect(await orders.offsetForTimestamp(9)).toBeNull()
    expect(await orders.offsetOfMaxTimestamp()).toMatchObject({ offset: 4, timestampMs: 8 })
  })

  it('finds the first record that carries the highest time', async () => {
    await write(orders, batchAt([5, 9, 9], 'gzip'))
    await write(orders, batchAt([9, 8]))
    expect(await orders.offsetOfMaxTimestamp()).toMatchObject({ offset: 1, timestampMs: 9 })
    await write(orders, batchAt([10]))
    expect(await orders.offsetOfMaxTimestamp()).toMatchObject({ offset: 5, timestampMs: 10 })
  })

  it('answers the same from data objects after a restart', async () => {
    await write(orders, batchAt([2, 4]))
    await node.log.pack()
    await write(orders, batchAt([6, 8, 10], 'gzip'))
    orders = await openPartition((await system.start({}, { logCacheBytes: 0 })).streams)
    expect(await orders.offsetForTimestamp(3)).toMatchObject({ offset: 1, timestampMs: 4, leaderEpoch: 1 })
    expect(await orders.offsetForTimestamp(7)).toMatchObject({ offset: 3, timestampMs: 8 })
    expect(await orders.offsetOfMaxTimestamp()).toMatchObject({ offset: 4, timestampMs: 10 })
  })

  it('fails as a read does when the store does', async () => {
    await write(orders, batchAt([2, 4]))
    await node.log.pack()
    orders = await openPartition((await system.start({}, { logCacheBytes: 0 })).streams)
    system.store.inject({ operation: 'get', fault: { kind: 'fail-before' } })
    await expect(orders.offsetForTimestamp(3)).rejects.toThrow('EIO')
  })
})
