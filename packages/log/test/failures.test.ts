import { Readable } from 'node:stream'
import { type Extent, type Metadata, MetadataUnavailableError } from '@pico/metadata'
import { withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { AppendFailedError, type Log, type LogStream } from '../src/index.ts'
import type { LostAnswer } from './lost-answers.ts'
import { appendAll, expected, openStream, range, readAll, TestSystem, walKinds } from './system.ts'
import { entry, stamp, tagsOf } from './test-entries.ts'

let log: Log | null = null
afterEach(async () => {
  await log?.close()
  log = null
})

function appendOne(stream: LogStream, tag: number) {
  const appended = stream.append(entry(tag))
  stamp(appended.bytes, appended.baseOffset)
  return appended
}

const durableWrite = { local: 'write', shared: 'put' } as const

describe.each(walKinds)('when the store fails, a %s WAL', (kind) => {
  test.each(['fail-before', 'fail-after'] as const)(
    'acknowledges nothing, rolls back and goes on (%s)',
    async (fault) => {
      const store = withFaults(openMemoryStore())
      const system = await TestSystem.open(kind, { store })
      log = await system.start()
      const seen: string[] = []
      const [stream] = await log.open([await system.createStream()], () => ({
        committed: (offset) => seen.push(`committed ${offset}`),
        rolledBack: (offset) => seen.push(`rolled back ${offset}`),
      }))
      if (stream === undefined) throw new Error('no stream')
      await appendAll(stream, [1, 2])
      store.inject({ operation: durableWrite[kind], nth: 1, fault: { kind: fault, code: 'ENOSPC' } })
      const doomed = [appendOne(stream, 3), appendOne(stream, 4)]
      for (const { committed } of doomed) await expect(committed).rejects.toBeInstanceOf(AppendFailedError)
      expect(stream.nextOffset).toBe(2)
      expect(stream.committedOffset).toBe(2)
      expect(await appendAll(stream, [5, 6])).toEqual([2, 3])
      expect(seen).toEqual(['committed 2', 'rolled back 2', 'committed 4'])

      log = await system.start()
      const again = await openStream(log, stream.streamId)
      expect(tagsOf(await again.read(0, 10_000)).map(({ tag }) => tag)).toEqual([1, 2, 5, 6])
    },
  )

  test('fails what was appended after a failed flush as well, for its offsets are void', async () => {
    const { promise: failing, reject: fail } = Promise.withResolvers<void>()
    let reached = () => {}
    const onItsWay = new Promise<void>((resolve) => {
      reached = resolve
    })
    let calls = 0
    const store = withFaults(openMemoryStore(), {
      before: (operation) => {
        if (operation !== durableWrite[kind]) return
        calls += 1
        reached()
        return calls === 1 ? failing : undefined
      },
    })
    const system = await TestSystem.open(kind, { store })
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    const first = appendOne(stream, 1)
    await onItsWay
    const second = appendOne(stream, 2)
    expect(second.baseOffset).toBe(1)
    fail(new Error('EIO'))
    await expect(first.committed).rejects.toBeInstanceOf(AppendFailedError)
    await expect(second.committed).rejects.toBeInstanceOf(AppendFailedError)
    expect(await appendAll(stream, [3])).toEqual([0])
  })

  test('closes though a pack and a deletion hang, and the next run has everything', async () => {
    const begun: string[] = []
    const store = withFaults(openMemoryStore(), { before: (operation) => void begun.push(operation) })
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ doomedGraceMs: 0 })
    const stream = await openStream(log, await system.createStream())
    await appendAll(stream, [1])
    await log.pack()
    await log.maintain()
    await appendAll(stream, [2])
    store.inject({ operation: 'put', key: /^data/, fault: { kind: 'hang' } })
    store.inject({ operation: 'delete', fault: { kind: 'hang' } })
    const pack = log.pack()
    const given = expect(pack).rejects.toThrow('the log is closing')
    await stream.trim(1)
    const maintaining = log.maintain().catch(() => undefined)
    await expect.poll(() => begun).toContain('delete')
    await log.close()
    await Promise.all([given, maintaining])

    store.heal()
    log = await system.start()
    const again = await openStream(log, stream.streamId)
    expect(tagsOf(await again.read(1, 1000)).map(({ tag }) => tag)).toEqual([2])
  })

  test('has no room while too much waits, and has room again once it is durable', async () => {
    const store = withFaults(openMemoryStore(), { bytesPerSecond: 10_000_000 })
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ unflushedBytesMax: 100_000 })
    const stream = await openStream(log, await system.createStream())
    const appended = stream.append(entry(1, { payloadBytes: 200_000 }))
    stamp(appended.bytes, appended.baseOffset)
    expect(log.hasRoom()).toBe(false)
    await log.whenRoom()
    expect(log.hasRoom()).toBe(true)
    await appended.committed
  })

  test('what has fallen behind is packed in parts, each of the size of a pack', async () => {
    const store = withFaults(openMemoryStore())
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ packBytes: 1_000_000 })
    const stream = await openStream(log, await system.createStream())
    store.inject({ operation: 'put', key: /^data/, fault: { kind: 'hang' } })
    for (let round = 0; round < 20; round++) await appendAll(stream, range(4, 4 * round), 100_000)
    store.heal()
    await log.pack()
    expect(log.stats.unpackedBytes).toBe(0)
    const sizes: number[] = []
    for await (const { sizeBytes } of store.list('data/')) sizes.push(sizeBytes)
    expect(sizes.length).toBeGreaterThanOrEqual(5)
    expect(Math.max(...sizes)).toBeLessThan(1_500_000)
    expect(await readAll(stream)).toEqual(expected(range(80)))
  })

  test('packs what came during a pack when its time is over, though nothing more comes', async () => {
    const store = withFaults(openMemoryStore())
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ packBytes: 100_000, packIntervalMs: 50 })
    const stream = await openStream(log, await system.createStream())
    store.inject({ operation: 'put', key: /^data/, fault: { kind: 'hang' } })
    await appendAll(stream, [1], 100_000)
    await appendAll(stream, [2])
    store.heal()
    await expect.poll(() => log?.stats.unpackedBytes).toBe(0)
    expect(log.stats.packs).toBe(2)
  })

  test('has room again as soon as a pack has come past what was too much, and not only when it is over', async () => {
    const store = withFaults(openMemoryStore())
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ unpackedBytesMax: 7_000_000 })
    const stream = await openStream(log, await system.createStream())
    for (let round = 0; round < 20; round++) await appendAll(stream, range(4, 4 * round), 100_000)
    expect(log.hasRoom()).toBe(false)
    const packed = log.pack()
    await log.whenRoom()
    expect(log.stats.packs).toBe(0)
    await packed
    expect(log.stats.packs).toBe(1)
  })

  test('a damaged object is a read error that names it, never other bytes', async () => {
    const store = withFaults(openMemoryStore())
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ logCacheBytes: 0 })
    const stream = await openStream(log, await system.createStream())
    for (let i = 0; i < 20; i += 1) {
      const one = stream.append(entry(i, { payloadBytes: 600_000 }))
      stamp(one.bytes, one.baseOffset)
      await one.committed
    }
    await log.pack()
    store.inject({ operation: 'get', key: /^data\//, fault: { kind: 'altered' } })
    await expect((async () => stream.read(0, 1000))()).rejects.toMatchObject({
      code: 'PICO_LOG_READ_FAILED',
      message: expect.stringContaining('data/'),
    })
    store.heal()
    expect(tagsOf(await stream.read(0, 1))).toEqual([{ baseOffset: 0, tag: 0 }])
  })

  test('packing that fails is tried again, and loses nothing meanwhile', async () => {
    const store = withFaults(openMemoryStore())
    const system = await TestSystem.open(kind, { store })
    log = await system.start({ packBytes: 1000 })
    const stream = await openStream(log, await system.createStream())
    store.inject({ operation: 'put', key: /^data\//, nth: 1, fault: { kind: 'fail-before' } })
    for (let i = 0; i < 5; i += 1) await appendAll(stream, [i], 500)
    await expect.poll(() => log?.stats.packs, { timeout: 5000 }).toBeGreaterThan(0)
    expect(system.problems.length).toBeGreaterThan(0)
    expect(tagsOf(await stream.read(0, 100_000))).toHaveLength(5)
  })
})

describe('when the database does not answer', () => {
  test.each([true, false])(
    'a commit of unknown outcome is read back, not guessed, and made where it had not happened (it had: %s)',
    async (happened) => {
      const system = await TestSystem.open('shared')
      const attempts = loseAnswer(system.metadata, happened)
      log = await system.start()
      const stream = await openStream(log, await system.createStream())
      await appendOne(stream, 1).committed
      expect(await appendAll(stream, [2])).toEqual([1])
      expect(attempts).toEqual(happened ? [0, 1] : [0, 1, 1])
      log = await system.start()
      const again = await openStream(log, stream.streamId)
      expect(tagsOf(await again.read(0, 1000)).map(({ tag }) => tag)).toEqual([1, 2])
    },
  )

  test.each([true, false])('a pack of unknown outcome is the same pack again (it happened: %s)', async (happened) => {
    const system = await TestSystem.open('shared')
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    await appendAll(stream, [1, 2])
    const { log: index } = system.metadata
    const commit = index.commitPack.bind(index)
    const tried: unknown[] = []
    index.commitPack = async (node, pack, nowMs) => {
      tried.push(pack)
      if (tried.length > 1 || happened) await commit(node, pack, nowMs)
      if (tried.length === 1) throw new MetadataUnavailableError('committing', { cause: new Error('connection reset') })
      return { skippedStreamIds: [] }
    }
    await Promise.all([log.pack(), appendAll(stream, [3])])
    expect(tried[1]).toBe(tried[0])
    await log.pack()
    log = await system.start()
    const again = await openStream(log, stream.streamId)
    expect(tagsOf(await again.read(0, 1000)).map(({ tag }) => tag)).toEqual([1, 2, 3])
    expect((await system.metadata.log.totals()).objects).toBe(2)
  })

  test.each([true, false])('a merge of unknown outcome is the same merge again (it happened: %s)', async (happened) => {
    const lostAnswers: LostAnswer[] = []
    const system = await TestSystem.open('shared', { lostAnswers })
    log = await system.start({ compactFanIn: 2, logCacheBytes: 0, blockCacheBytes: 0 })
    const stream = await openStream(log, await system.createStream())
    // So much that memory has nothing of the beginning any more.
    for (const tag of [1, 2, 3]) {
      for (let entries = 0; entries < 7; entries++) await appendAll(stream, [tag], 600_000)
      await log.pack()
    }
    lostAnswers.push({ call: 'commitCompaction', happened })
    await log.maintain()
    await log.maintain() // what was merged is deleted now
    for (const [offset, tag] of [
      [0, 1],
      [6, 1],
      [7, 2],
      [20, 3],
    ] as const) {
      expect(tagsOf(await stream.read(offset, 1))).toEqual([{ baseOffset: offset, tag }])
    }
    expect((await system.metadata.log.totals()).objects).toBe(1)
    expect(stream.packed).toHaveLength(1)
  })

  test('a merge that knows of a pack before the pack does is in memory as it is in SQL', async () => {
    const lostAnswers: LostAnswer[] = []
    const system = await TestSystem.open('shared', { lostAnswers })
    log = await system.start({ compactFanIn: 2, logCacheBytes: 0, blockCacheBytes: 0 })
    const stream = await openStream(log, await system.createStream())
    const big = 600_000
    // Always so much that memory has nothing of the beginning any more.
    const appendAndPack = async (tag: number) => {
      for (let entries = 0; entries < 20; entries++) await appendAll(stream, [tag], big)
      return log?.pack()
    }
    await appendAndPack(1)
    lostAnswers.push({ call: 'commitPack', happened: true })
    const packing = appendAndPack(2)
    await expect.poll(() => lostAnswers).toEqual([])
    await log.maintain()
    await packing
    const isInSql = async () => {
      const [row] = await system.metadata.streams.open(system.node, [stream.streamId])
      expect(stream.packed.map(inShort)).toEqual(row?.extents.map(inShort))
    }
    await isInSql()
    await appendAndPack(3)
    await log.maintain()
    await appendAndPack(4)
    await isInSql()
    for (let offset = 0; offset < 80; offset++) {
      expect(tagsOf(await stream.read(offset, 1))).toEqual([{ baseOffset: offset, tag: 1 + Math.floor(offset / 20) }])
    }
  })

  test('a merge that a trim came before is in memory as it is in SQL', async () => {
    const lostAnswers: LostAnswer[] = []
    const system = await TestSystem.open('shared', { lostAnswers })
    log = await system.start({ compactFanIn: 2, logCacheBytes: 0 })
    const stream = await openStream(log, await system.createStream())
    for (const tag of [1, 2, 3]) {
      await appendAll(stream, [tag])
      await log.pack()
    }
    lostAnswers.push({ call: 'commitCompaction', happened: false })
    const merged = log.maintain()
    await expect.poll(() => lostAnswers).toEqual([])
    await stream.trim(1)
    await merged
    expect(stream.packed.map(({ baseOffset, endOffset }) => [baseOffset, endOffset])).toEqual([[1, 3]])
    const [row] = await system.metadata.streams.open(system.node, [stream.streamId])
    expect(stream.packed.map(inShort)).toEqual(row?.extents.map(inShort))
    expect(tagsOf(await stream.read(1, 1000)).map(({ tag }) => tag)).toEqual([2, 3])
  })

  test.each([true, false])(
    'a rewriting of unknown outcome is known, whoever gave it up (it happened: %s)',
    async (happened) => {
      const lostAnswers: LostAnswer[] = []
      const system = await TestSystem.open('shared', { lostAnswers })
      log = await system.start({ logCacheBytes: 0, blockCacheBytes: 0 })
      const stream = await openStream(log, await system.createStream())
      await appendAll(stream, [1, 2])
      await log.pack()
      const givenUp = new AbortController()
      lostAnswers.push({ call: 'replaceExtents', happened })
      const bytes = await allOf(stream.readPacked(stream.packed[0]!, givenUp.signal))
      const rewriting = stream.replacePacked(stream.packed, Readable.from(bytes), givenUp.signal)
      await expect.poll(() => lostAnswers).toEqual([])
      givenUp.abort()
      expect(await rewriting).toBe(true)
      await log.maintain()
      expect(tagsOf(await stream.read(0, 1000)).map(({ tag }) => tag)).toEqual([1, 2])
    },
  )

  test('a rewriting that comes too late leaves the stream as SQL has it', async () => {
    const system = await TestSystem.open('shared')
    log = await system.start({ compactFanIn: 2, logCacheBytes: 0 })
    const stream = await openStream(log, await system.createStream())
    for (const tag of [1, 2, 3]) {
      await appendAll(stream, [tag])
      await log.pack()
    }
    const { signal } = new AbortController()
    const [first] = stream.packed
    const bytes = await allOf(stream.readPacked(first!, signal))
    // Behind the engine's back, as by a commit that lands when it was given up for lost.
    const [row] = await system.metadata.streams.open(system.node, [stream.streamId])
    const objectId = await system.metadata.nodes.reserve('objectId', 1)
    await system.store.put('data/late', [Buffer.concat(bytes)])
    await system.metadata.log.announceUpload('data/late', 8e12)
    const late = { ...row!.extents[0]!, objectId, position: 0, crc32c: null }
    const object = { objectId, key: 'data/late', lengthBytes: late.lengthBytes }
    await system.metadata.log.replaceExtents(system.node, { object, extent: late, replaced: [row!.extents[0]!] }, 1)
    expect(await stream.replacePacked([first!], Readable.from(bytes), signal)).toBe(false)
    const [now] = await system.metadata.streams.open(system.node, [stream.streamId])
    expect(stream.packed.map(inShort)).toEqual(now?.extents.map(inShort))
  })

  test('a trim of unknown outcome is known before anything else is done', async () => {
    const system = await TestSystem.open('shared')
    log = await system.start()
    const stream = await openStream(log, await system.createStream())
    await appendAll(stream, [1, 2, 3])
    const { streams } = system.metadata
    const trim = streams.trim.bind(streams)
    let calls = 0
    streams.trim = async (...given) => {
      calls += 1
      const inForce = await trim(...given)
      if (calls === 1) throw new MetadataUnavailableError('trimming', { cause: new Error('connection reset') })
      return inForce
    }
    expect(await stream.trim(2)).toBe(2)
    expect([calls, stream.startOffset]).toEqual([2, 2])
  })
})

/** The first commit of WAL objects loses its answer, and so does the first question about it. Returns the attempts of all commits. */
function loseAnswer(metadata: Metadata, happened: boolean): number[] {
  const { log: index } = metadata
  const commit = index.commitWalObjects.bind(index)
  const ask = index.settleWalCommit.bind(index)
  const lost = () => new MetadataUnavailableError('committing', { cause: new Error('connection reset') })
  const attempts: number[] = []
  index.commitWalObjects = async (node, objects, attempt = 0) => {
    attempts.push(attempt)
    if (attempts.length > 1 || happened) await commit(node, objects, attempt)
    if (attempts.length === 1) throw lost()
  }
  index.settleWalCommit = async () => {
    index.settleWalCommit = ask
    throw lost()
  }
  return attempts
}

function inShort(extent: object): string {
  const { baseOffset, endOffset, objectId, position, lengthBytes } = extent as Extent
  return `[${baseOffset}, ${endOffset}) ${objectId}@${position}+${lengthBytes}`
}

async function allOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for await (const piece of pieces) found.push(Uint8Array.from(piece))
  return found
}
