import { withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Log, LogStream } from '../src/index.ts'
import { appendAll, expected, openStream, range, readAll, TestSystem, walKinds } from './system.ts'
import { entry, foldedTags, stamp, tagsOf } from './test-entries.ts'
import { VirtualClock } from './virtual-clock.ts'

describe.each(walKinds)('the log over a %s WAL', (kind) => {
  let log: Log | null = null
  afterEach(async () => {
    await log?.close()
    log = null
  })

  test('gives out dense offsets in call order, and reads back what was appended', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    expect(await appendAll(stream, range(100))).toEqual(range(100))
    expect(stream.committedOffset).toBe(100)
    expect(await readAll(stream)).toEqual(expected(range(100)))
    expect(stream.read(100, 1000)).toBeNull()
  })

  test('an entry is not readable before it is durable', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    const appended = stream.append(entry(7))
    stamp(appended.bytes, appended.baseOffset)
    expect(stream.nextOffset).toBe(1)
    expect(stream.committedOffset).toBe(0)
    expect(stream.read(0, 1000)).toBeNull()
    await appended.committed
    expect(tagsOf(await stream.read(0, 1000))).toEqual([{ baseOffset: 0, tag: 7 }])
  })

  test('a flush begins an interval after the one before, or at once after a longer silence', async () => {
    const clock = new VirtualClock()
    const system = await TestSystem.open(kind, { clock })
    log = await system.start({ flushIntervalMs: 250 })
    const stream = await openStream(log, await system.createStream())
    const append = (tag: number) => {
      const { bytes, baseOffset } = stream.append(entry(tag))
      stamp(bytes, baseOffset)
    }
    append(0)
    append(1)
    await clock.settle()
    expect(stream.committedOffset).toBe(2)
    append(2)
    await clock.advance(200)
    append(3)
    await clock.advance(49)
    expect(stream.committedOffset).toBe(2)
    await clock.advance(1)
    expect(stream.committedOffset).toBe(4)
    await clock.advance(250)
    append(4)
    await clock.settle()
    expect(stream.committedOffset).toBe(5)
    expect(log.stats.flushes).toBe(3)
  })

  /** A stream of one entry, in virtual time, whose next write hangs. */
  const withHangingWrite = async () => {
    const operation = kind === 'local' ? 'write' : 'put'
    const begun: string[] = []
    const store = withFaults(openMemoryStore(), { before: (each) => void begun.push(each) })
    const clock = new VirtualClock()
    const system = await TestSystem.open(kind, { store, clock })
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    const append = async (tag: number, payloadBytes = 4) => {
      const { bytes, baseOffset } = stream.append(entry(tag, { payloadBytes }))
      stamp(bytes, baseOffset)
      await clock.settle()
    }
    await append(0)
    store.inject({ operation, nth: 1, fault: { kind: 'hang' } })
    const heal = async (committedOffset: number) => {
      store.heal()
      await vi.waitFor(async () => {
        await clock.settle()
        expect(stream.committedOffset).toBe(committedOffset)
      })
    }
    return { stream, clock, append, heal, writesBegun: () => begun.filter((each) => each === operation).length }
  }

  test('little is gathered while a flush is on its way, but does not wait for one that takes long', async () => {
    const { stream, clock, append, heal, writesBegun } = await withHangingWrite()
    await append(1)
    await append(2)
    await clock.advance(1)
    await append(3)
    expect(writesBegun()).toBe(2)
    await clock.advance(1)
    await append(4)
    expect(writesBegun()).toBe(3)
    await append(5)
    expect(writesBegun()).toBe(3)
    expect(stream.committedOffset).toBe(1)
    await heal(6)
    expect(writesBegun()).toBe(4)
  })

  test('much is written beside a flush that is on its way', async () => {
    const { append, heal, writesBegun } = await withHangingWrite()
    await append(1)
    await append(2, 20_000)
    expect(writesBegun()).toBe(2)
    await append(3, 20_000)
    expect(writesBegun()).toBe(3)
    await heal(4)
    expect(writesBegun()).toBe(3)
  })

  test('a read returns whole entries up to the limit but at least one, from the entry that holds the offset', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    const ten = stream.append(entry(1, { count: 10, payloadBytes: 1000 }))
    stamp(ten.bytes, ten.baseOffset)
    const more = stream.append(entry(2, { count: 10, payloadBytes: 1000 }))
    stamp(more.bytes, more.baseOffset)
    await more.committed
    const read = await stream.read(5, 1)
    expect(tagsOf(read)).toEqual([{ baseOffset: 0, tag: 1 }])
    expect(read?.endOffset).toBe(10)
    expect(tagsOf(await stream.read(10, 1))).toEqual([{ baseOffset: 10, tag: 2 }])
    expect(tagsOf(await stream.read(0, 2056))).toHaveLength(2)
    expect(tagsOf(await stream.read(0, 2055))).toHaveLength(1)
  })

  test('what was acknowledged before a crash is there after it, state included', async () => {
    const system = await TestSystem.open(kind)
    const first = await system.start()
    const streamId = await system.createStream()
    await appendAll(await openStream(first, streamId), range(50), 1000)
    log = await system.start()
    const stream = await openStream(log, streamId)
    expect(stream.nextOffset).toBe(50)
    expect(stream.leaderEpoch).toBe(2)
    expect(await readAll(stream)).toEqual(expected(range(50)))
    expect(foldedTags(stream.recoveredState)).toEqual({ count: 50, sum: 1225 })
    await appendAll(stream, range(10, 50))
    expect(await readAll(stream)).toEqual(expected(range(60)))
  })

  test('packed entries are read from the data object, with the WAL let go of', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start({ logCacheBytes: 0 })
    const streamIds = [await system.createStream('a'), await system.createStream('b')]
    const streams = await Promise.all(streamIds.map((id) => openStream(log as Log, id)))
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(streams.map((stream) => appendAll(stream, range(40, round * 40), 30_000)))
    }
    await log.pack()
    await appendAll(streams[0] as LogStream, range(40, 200), 30_000)
    expect(log.stats.unpackedBytes).toBe(40 * 30_028)
    expect(await readAll(streams[0] as LogStream)).toEqual(expected(range(240)))
    expect(await readAll(streams[1] as LogStream)).toEqual(expected(range(200)))
    const doomed = await system.metadata.log.doomed(Date.now() + 1, 100)
    expect(doomed.every(({ key }) => key.startsWith('wal/'))).toBe(true)
    expect(system.problems).toEqual([])
  })

  test('a crash after a pack neither loses nor doubles', async () => {
    const system = await TestSystem.open(kind)
    const first = await system.start()
    const streamId = await system.createStream()
    const before = await openStream(first, streamId)
    await appendAll(before, range(100), 30_000)
    await first.pack()
    await appendAll(before, range(50, 100), 30_000)
    log = await system.start()
    const stream = await openStream(log, streamId)
    expect(await readAll(stream)).toEqual(expected(range(150)))
    expect(foldedTags(stream.recoveredState)).toEqual({ count: 150, sum: (150 * 149) / 2 })
  })

  test('a clean close leaves nothing to recover', async () => {
    const system = await TestSystem.open(kind)
    const first = await system.start()
    const streamId = await system.createStream()
    await appendAll(await openStream(first, streamId), range(20), 1000)
    await first.close()
    expect(await system.metadata.log.walObjects(1)).toEqual([])
    log = await system.start()
    expect(await readAll(await openStream(log, streamId))).toEqual(expected(range(20)))
  })

  test('starts that write nothing leave no segments behind, killed or closed', async () => {
    const system = await TestSystem.open(kind)
    for (let i = 0; i < 6; i += 1) {
      log = await system.start()
      await log.flush()
      if (i % 2 === 0) await log.close()
    }
    log = await system.start()
    const keys: string[] = []
    for await (const { key } of system.store.list('wal/')) keys.push(key)
    expect(keys.length).toBeLessThanOrEqual(2)
  })

  test('compaction merges what many restarts left, and readers notice nothing', async () => {
    const system = await TestSystem.open(kind)
    const streamIds = [await system.createStream('a'), await system.createStream('b')]
    for (let round = 0; round < 10; round += 1) {
      const running = await system.start()
      for (const id of streamIds) await appendAll(await openStream(running, id), range(10, round * 10), 2000)
      if (round % 2 === 0) await running.close()
    }
    log = await system.start({ logCacheBytes: 0 })
    const streams = await Promise.all(streamIds.map((id) => openStream(log as Log, id)))
    const half = await (streams[0] as LogStream).read(50, 1)
    await log.maintain()
    expect(log.stats.compactions).toBeGreaterThan(0)
    await log.maintain() // deletes what the first round doomed
    const totals = await system.metadata.log.totals()
    expect(totals.objects).toBe(1)
    expect(totals.doomed).toBe(0)
    expect(tagsOf(half)).toEqual([{ baseOffset: 50, tag: 50 }])
    for (const stream of streams) expect(await readAll(stream)).toEqual(expected(range(100)))
    log = await system.start()
    for (const id of streamIds) expect(await readAll(await openStream(log, id))).toEqual(expected(range(100)))
  })

  test('trim moves the start for good, and its objects go once nothing points into them', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start()
    const streamId = await system.createStream()
    const stream = await openStream(log, streamId)
    await appendAll(stream, range(100), 10_000)
    await log.pack()
    expect(await stream.trim(60)).toBe(60)
    expect(await stream.trim(10)).toBe(60)
    expect(await stream.trim(1_000)).toBe(100)
    await log.maintain()
    await log.maintain()
    expect((await system.metadata.log.totals()).objects).toBe(0)
    await appendAll(stream, range(5, 100))
    log = await system.start()
    const again = await openStream(log, streamId)
    expect(again.startOffset).toBe(100)
    expect(await readAll(again)).toEqual(expected(range(5, 100)))
  })

  test('finds the first entry at or after a timestamp, wherever it lies', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start({ logCacheBytes: 0 })
    const stream = await openStream(log, await system.createStream())
    await appendAll(stream, range(50), 100_000)
    await log.pack()
    await appendAll(stream, range(50, 50), 100_000)
    expect(await stream.findTimestamp(0)).toMatchObject({ baseOffset: 0 })
    expect(await stream.findTimestamp(1030)).toMatchObject({ baseOffset: 30 })
    expect(await stream.findTimestamp(1077)).toMatchObject({ baseOffset: 77 })
    expect(await stream.findTimestamp(1100)).toBeNull()
    expect(stream.maxTimestampMs()).toBe(1099)
  })

  test('an idle stream is dropped from memory, and found again', async () => {
    const system = await TestSystem.open(kind)
    log = await system.start({ idleStreamMs: 0 })
    const streamId = await system.createStream()
    await appendAll(await openStream(log, streamId), range(10))
    await log.maintain()
    expect(log.stats.openStreams).toBe(1) // un-packed
    await log.pack()
    await log.maintain()
    expect(log.stats.openStreams).toBe(0)
    const again = await openStream(log, streamId)
    expect(again.leaderEpoch).toBe(1)
    expect(await readAll(again)).toEqual(expected(range(10)))
  })

  test('a newer epoch fences the older: its appends reject and it says so', async () => {
    const system = await TestSystem.open(kind)
    const old = await system.start({ segmentBytes: 1024 * 1024 + 4096 })
    const streamId = await system.createStream()
    const stream = await openStream(old, streamId)
    await appendAll(stream, range(3))
    let fenced = 0
    old.onFenced = () => {
      fenced += 1
    }
    log = await system.start()
    // The local WAL meets the fence when it needs SQL: at the next segment, at the latest.
    await expect(
      (async () => {
        for (let i = 0; i < 10; i += 1) await appendAll(stream, [i], 400_000)
      })(),
    ).rejects.toMatchObject({ code: expect.stringMatching(/FENCED|APPEND_FAILED/) })
    if (kind === 'shared') expect(fenced).toBe(1)
  })
})
