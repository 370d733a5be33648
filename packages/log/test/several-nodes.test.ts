import { withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { type Clock, type Log, type LogStream, systemClock } from '../src/index.ts'
import { appendAll, expected, openStream, range, readAll, TestSystem } from './system.ts'
import { entry, stamp, tagsOf } from './test-entries.ts'
import { VirtualClock } from './virtual-clock.ts'

let log: Log | null = null
afterEach(async () => {
  await log?.close()
  log = null
})

describe('a log of several', () => {
  test('gives up streams with all they have, and goes on with the others', async () => {
    const system = await TestSystem.open('shared')
    log = await system.start()
    const [gone, kept] = await openTwo(system, log)
    for (let round = 0; round < 5; round += 1) {
      for (const stream of [gone, kept]) await appendAll(stream, range(3, round * 3), 100)
    }
    await log.release([gone.streamId])
    expect(log.opened(gone.streamId)).toBeUndefined()
    const [row] = await system.metadata.streams.byStreamId([gone.streamId])
    expect(row?.packedOffset).toBe(15)
    expect(await readAll(await openStream(log, gone.streamId))).toEqual(expected(range(15)))
    await log.release([gone.streamId])
    await appendAll(kept, range(3, 15), 100)
    await log.pack()
    expect(await readAll(kept)).toEqual(expected(range(18)))
    // The objects of the WAL that it points into outlive the pack.
    await log.maintain()
    await log.maintain()
    expect(await readAll(await openStream(log, gone.streamId))).toEqual(expected(range(15)))
  })

  test('does not let whoever writes to a stream that has moved here wait for as long as the others', async () => {
    const clock = new VirtualClock()
    const system = await TestSystem.open('shared', { clock })
    log = await system.start({ flushIntervalMs: 250 })
    const [moved, other] = await openTwo(system, log)
    const append = async (stream: LogStream, tag: number) => {
      const { bytes, baseOffset } = stream.append(entry(tag))
      stamp(bytes, baseOffset)
      await clock.settle()
    }
    await append(moved, 0)
    expect(moved.committedOffset).toBe(1)
    await log.release([moved.streamId])
    await system.metadata.streams.release(system.node, [moved.streamId])
    const here = await openStream(log, moved.streamId)
    expect(here.leaderEpoch).toBe(2)
    await append(other, 0)
    await append(here, 1)
    await clock.advance(49)
    expect([other.committedOffset, here.committedOffset]).toEqual([0, 1])
    await clock.advance(1)
    expect([other.committedOffset, here.committedOffset]).toEqual([1, 2])
    await append(here, 2)
    await clock.advance(249)
    expect(here.committedOffset).toBe(2)
    await clock.advance(1)
    expect(here.committedOffset).toBe(3)
  })

  test('packs from memory what leaves the cache while the pack is on its way: each run would be a GET', async () => {
    let appendMore = async () => {}
    let gets = 0
    const store = withFaults(openMemoryStore(), {
      before: async (operation, key) => {
        if (operation === 'put' && key.startsWith('data/')) await appendMore()
        if (operation === 'get') gets += 1
      },
    })
    const system = await TestSystem.open('shared', { store })
    log = await system.start({ logCacheBytes: 0, packBytes: 1024 ** 3 })
    const stream = await openStream(log, await system.createStream())
    for (let round = 0; round < 5; round += 1) await appendAll(stream, range(2, round * 2), 100_000)
    appendMore = async () => {
      appendMore = async () => {}
      for (let round = 5; round < 10; round += 1) await appendAll(stream, range(2, round * 2), 2_000_000)
    }
    await log.pack()
    expect(gets).toBe(0)
    expect(await readAll(stream)).toEqual(expected(range(20)))
  })

  test('reads on where another node has merged objects and deleted what it merged', async () => {
    const system = await TestSystem.open('shared')
    log = await system.start({ blockCacheBytes: 0, logCacheBytes: 0 })
    const [stream] = await openTwo(system, log)
    for (let round = 0; round < 10; round += 1) {
      await appendAll(stream, range(5, round * 5), 300_000)
      await log.pack()
    }
    const before = stream.packed
    const other = await system.join(2)
    await other.maintain()
    await other.maintain()
    expect(other.stats.compactions).toBeGreaterThan(0)
    expect(other.stats.deletedObjects).toBeGreaterThan(0)
    expect(await readAll(stream)).toEqual(expected(range(50)))
    expect(stream.packed.length).toBeLessThan(before.length)
    await other.close()
  })

  test('reads on where it merges objects with what another node has merged, and did not know of that', async () => {
    const system = await TestSystem.open('shared')
    log = await system.start({ blockCacheBytes: 0, logCacheBytes: 0, compactFanIn: 2 })
    const [stream] = await openTwo(system, log)
    const appendPacked = async (tag: number, bytes: number) => {
      await appendAll(stream, [tag], bytes)
      await log?.pack()
    }
    await appendPacked(0, 1_500_000)
    for (let tag = 1; tag <= 8; tag++) await appendPacked(tag, 100_000)
    // All but the first.
    const other = await system.join(2, { compactBelowBytes: 1_000_000 })
    await other.maintain()
    expect(other.stats.compactions).toBe(1)
    await appendPacked(9, 100_000)
    await log.maintain()
    expect(log.stats.compactions).toBe(1)
    for (let tag = 10; tag <= 12; tag++) await appendPacked(tag, 100_000)
    await appendPacked(13, 8 * 1024 * 1024) // and nothing else is in memory
    for (const offset of range(14).reverse()) expect(tagsOf(await stream.read(offset, 1)).at(0)?.tag).toBe(offset)
    expect(await readAll(stream)).toEqual(expected(range(14)))
    await other.close()
  })

  test('adopts what a fenced node left, as often as somebody tries', async () => {
    const system = await TestSystem.open('shared')
    const dead = await system.start()
    const deadNode = system.node
    const [stream] = await openTwo(system, dead)
    await appendAll(stream, range(10), 100)
    log = await system.join(2)
    await system.metadata.nodes.fence(deadNode)
    expect(await log.open([stream.streamId], () => observer)).toEqual([undefined])
    await Promise.all([log.adopt(deadNode), log.adopt(deadNode)])
    expect(await readAll(await openStream(log, stream.streamId))).toEqual(expected(range(10)))
    await log.adopt(deadNode)
    expect(await readAll(await openStream(log, stream.streamId))).toEqual(expected(range(10)))
  })

  test('packs before the rows that its death would take are too many', async () => {
    const system = await TestSystem.open('shared')
    log = await system.start({ packRuns: 10 })
    const [stream] = await openTwo(system, log)
    for (let round = 0; round < 20; round += 1) await appendAll(stream, [round], 10)
    await expect.poll(() => log?.stats.packs).toBeGreaterThan(0)
  })

  test('deletes uploads that were never committed once nobody can commit them any more', async () => {
    let passedMs = 0
    const clock: Clock = { ...systemClock, nowMs: () => Date.now() + passedMs }
    const store = openMemoryStore()
    const system = await TestSystem.open('shared', { store, clock })
    log = await system.start()
    await store.put('wal/0000000009/0000000001/0000000000000007', [Buffer.from('left by a dead node')])
    const strays = async () => {
      const keys: string[] = []
      for await (const { key } of store.list('wal/0000000009/')) keys.push(key)
      return keys.length
    }
    await log.maintain()
    expect(await strays()).toBe(1)
    passedMs = 2 * 60 * 60 * 1000
    await log.maintain()
    expect(await strays()).toBe(0)
  })
})

const observer = { committed: () => undefined, rolledBack: () => undefined }

async function openTwo(system: TestSystem, log: Log): Promise<[LogStream, LogStream]> {
  return [await openStream(log, await system.createStream('a')), await openStream(log, await system.createStream('b'))]
}
