import { setTimeout as sleep } from 'node:timers/promises'
import type { ObjectStore, SegmentStore, WriteHaste } from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { type Clock, type Log, systemClock } from '../src/index.ts'
import { appendAll, expected, openStream, range, readAll, TestSystem, walKinds } from './system.ts'

let log: Log | null = null
afterEach(async () => {
  await log?.close()
  log = null
})

/** A store that never gets round to what is in no hurry. `waiting` is what lies there. */
function openIdleStore() {
  const inner = openMemoryStore()
  const waiting = new Set<string>()
  const whenHurried = async (key: string, { unhurried = () => false }: WriteHaste) => {
    waiting.add(key)
    while (unhurried()) await sleep(1)
    waiting.delete(key)
  }
  const store: ObjectStore & SegmentStore = {
    get: inner.get.bind(inner),
    delete: inner.delete.bind(inner),
    list: inner.list.bind(inner),
    close: inner.close.bind(inner),
    async put(key, body, options = {}) {
      await whenHurried(key, options)
      return inner.put(key, body, options)
    },
    async create(key, sizeBytes, options = {}) {
      await whenHurried(key, options)
      return inner.create(key, sizeBytes, options)
    },
  }
  return { store, waiting }
}

const packBytes = 1024 * 1024
const payloadBytes = 64 * 1024
const entriesOfPack = packBytes / payloadBytes

test('a segment is made without haste until it is waited for, or the one before it is half full', async () => {
  const { store, waiting } = openIdleStore()
  const system = await TestSystem.open('local', { store })
  log = await system.start({ segmentBytes: 2 * packBytes })
  await expect.poll(() => waiting.size).toBe(1)
  const stream = await openStream(log, await system.createStream())
  await appendAll(stream, [0], payloadBytes)
  expect(waiting.size).toBe(0)
  await appendAll(stream, range(6, 1), payloadBytes)
  await expect.poll(() => waiting.size).toBe(1)
  await appendAll(stream, range(12, 7), payloadBytes)
  await expect.poll(() => waiting.size).toBe(0)
  await appendAll(stream, range(100, 19), payloadBytes)
  expect(await readAll(stream)).toEqual(expected(range(119)))
})

test('nor is it left lying where the log closes', async () => {
  const { store, waiting } = openIdleStore()
  const system = await TestSystem.open('local', { store })
  log = await system.start()
  await expect.poll(() => waiting.size).toBe(1)
  await log.close()
  expect(waiting.size).toBe(0)
})

describe.each(walKinds)('packing a %s WAL', (kind) => {
  async function start() {
    const { store, waiting } = openIdleStore()
    const beganMs = systemClock.nowMs()
    let passedMs = 0
    const clock: Clock = { ...systemClock, nowMs: () => beganMs + passedMs }
    const system = await TestSystem.open(kind, { store, clock })
    log = await system.start({ packBytes, logCacheBytes: 8 * packBytes })
    const stream = await openStream(log, await system.createStream())
    let appended = 0
    /** So many entries, and so long from the first to the last. */
    const gather = async (count: number, ms: number) => {
      await appendAll(stream, [appended], payloadBytes)
      passedMs += ms
      await appendAll(stream, range(count - 1, appended + 1), payloadBytes)
      appended += count
    }
    const packWaits = () => expect.poll(() => [...waiting].some((key) => key.startsWith('data/'))).toBe(true)
    return { log, stream, gather, packWaits }
  }

  test('is done without haste until appends outrun it', async () => {
    const { log, stream, gather, packWaits } = await start()
    await gather(entriesOfPack, 4000)
    await packWaits()
    expect(log.stats.packs).toBe(0)
    await gather(entriesOfPack / 2, 0)
    await expect.poll(() => log.stats.packs).toBe(1)
    expect(await readAll(stream)).toEqual(expected(range(entriesOfPack * 1.5)))
  })

  test('hurries where the next pack will be due soon', async () => {
    const { log, gather } = await start()
    await gather(entriesOfPack, 3900)
    await expect.poll(() => log.stats.packs).toBe(1)
  })

  test('hurries where a stream is to be packed, also the turn before it, and where the log closes', async () => {
    const { log, stream, gather, packWaits } = await start()
    await gather(4, 0)
    await log.pack([stream.streamId])
    await gather(entriesOfPack - 2, 4000)
    await packWaits()
    await log.pack([stream.streamId])
    expect(log.stats.packs).toBe(1)
    await gather(entriesOfPack, 4000)
    await packWaits()
    await log.close()
    expect(log.stats.packs).toBe(2)
  })
})
