import { crc32c } from '@pico/binary'
import { expect, test } from 'vitest'
import type { Log, LogStream } from '../src/index.ts'
import { appendAll, openStream, TestSystem, walKinds } from './system.ts'
import { entry, foldedTags, stamp, tagsOf } from './test-entries.ts'

async function allTags(stream: LogStream, maxBytes = 100_000): Promise<number[]> {
  const tags: number[] = []
  for (let offset = stream.startOffset; ; ) {
    const read = await stream.read(offset, maxBytes)
    if (read === null) return tags
    tags.push(...tagsOf(read).map(({ tag }) => tag))
    offset = read.endOffset
  }
}

const forkOf = async (system: TestSystem, log: Log, source: LogStream, offset: number, name = `fork-${offset}`) => {
  const forked = await system.fork(log, source.streamId, offset, name)
  if (typeof forked === 'string') throw new Error(forked)
  return openStream(log, forked)
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

test.each(walKinds)(
  'a fork ends at any entry, and no byte is written for it but what was un-packed: %s WAL',
  async (kind) => {
    const system = await TestSystem.open(kind)
    const log = await system.start()
    const source = await openStream(log, await system.createStream())
    // Several chunks of a data object, and some in the WAL.
    await appendAll(source, range(0, 40), 9000)
    await log.pack()
    await appendAll(source, range(40, 50), 9000)
    for (const offset of [0, 1, 7, 8, 15, 39, 40, 41, 49, 50]) {
      const objects = (await system.metadata.log.totals()).objects
      const fork = await forkOf(system, log, source, offset)
      expect(fork.nextOffset).toBe(offset)
      expect(await allTags(fork)).toEqual(range(0, offset))
      expect(await allTags(fork, 1)).toEqual(range(0, offset))
      expect(foldedTags(fork.recoveredState).count).toBe(0)
      expect((await system.metadata.log.totals()).objects).toBeLessThanOrEqual(objects + (offset === 0 ? 1 : 0))
      await appendAll(fork, [1000 + offset])
      expect(await allTags(fork)).toEqual([...range(0, offset), 1000 + offset])
    }
    expect(await allTags(source)).toEqual(range(0, 50))
    await log.maintain()
    for (const offset of [7, 41]) {
      expect(await allTags(await openStream(log, 2 + [0, 1, 7, 8, 15, 39, 40, 41].indexOf(offset)))).toEqual([
        ...range(0, offset),
        1000 + offset,
      ])
    }
    await log.close()
    await system.metadata.close()
  },
)

test.each(walKinds)('what a crash left in the WAL is cut to the byte, checksum included: %s WAL', async (kind) => {
  const system = await TestSystem.open(kind)
  const first = await system.start()
  const streamId = await system.createStream()
  const source = await openStream(first, streamId)
  for (const tag of range(0, 3)) stamp(source.append(entry(tag)).bytes, tag)
  await first.flush()
  const log = await system.start()
  const again = await openStream(log, streamId)
  const fork = await forkOf(system, log, again, 2)
  const [row] = await system.metadata.streams.open({ nodeId: 1, nodeEpoch: 2 }, [fork.streamId])
  const [extent] = row?.extents ?? []
  expect(row?.extents).toHaveLength(1)
  const { position = 0, lengthBytes = 0, objectKey = '' } = extent ?? {}
  const bytes = await system.store.get(objectKey, { offset: position, length: lengthBytes })
  expect(extent).toMatchObject({ baseOffset: 0, endOffset: 2, objectStreamId: streamId, crc32c: crc32c(bytes) })
  expect(await allTags(fork)).toEqual([0, 1])
  await log.maintain()
  expect(await allTags(fork)).toEqual([0, 1])
  await log.close()
  await system.metadata.close()
})

test('an offset inside an entry leaves that entry to the fork to copy', async () => {
  const system = await TestSystem.open('local')
  const log = await system.start()
  const source = await openStream(log, await system.createStream())
  for (const count of [1, 5, 1])
    stamp(source.append(entry(count, { count })).bytes, count === 5 ? 1 : source.nextOffset - 1)
  await log.flush()
  for (const offset of [2, 5]) expect(await log.shareBelow(source.streamId, offset)).toMatchObject({ sharedEnd: 1 })
  for (const offset of [0, 1, 6, 7])
    expect(await log.shareBelow(source.streamId, offset)).toMatchObject({ sharedEnd: offset })
  await source.trim(3)
  expect(await log.shareBelow(source.streamId, 3)).toEqual({ sharedEnd: 3, cut: null })
  expect(await log.shareBelow(source.streamId, 4)).toMatchObject({ sharedEnd: 1 })
  expect(await log.shareBelow(1_000_000, 0)).toBeNull()
  await log.close()
  await system.metadata.close()
})

test('a pack of one stream leaves the others in the WAL, and packs and crashes after it lose and double nothing', async () => {
  for (const after of ['pack', 'crash', 'close'] as const) {
    const system = await TestSystem.open('local')
    let log = await system.start()
    const ids = [await system.createStream('a'), await system.createStream('b')]
    const open = () => Promise.all(ids.map((streamId) => openStream(log, streamId)))
    let [a, b] = (await open()) as [LogStream, LogStream]
    await Promise.all([appendAll(a, [1, 2]), appendAll(b, [3])])
    await log.shareBelow(a.streamId, 2)
    expect(await system.metadata.log.packedOffsets(ids)).toMatchObject([{ packedOffset: 2 }, { packedOffset: 0 }])
    await Promise.all([appendAll(a, [4]), appendAll(b, [5])])
    if (after === 'pack') await log.pack()
    if (after === 'close') await log.close()
    log = await system.start()
    ;[a, b] = (await open()) as [LogStream, LogStream]
    expect([await allTags(a), await allTags(b)]).toEqual([
      [1, 2, 4],
      [3, 5],
    ])
    expect([foldedTags(a.recoveredState), foldedTags(b.recoveredState)]).toEqual([
      { count: 3, sum: 7 },
      { count: 2, sum: 8 },
    ])
    await log.close()
    await system.metadata.close()
  }
})

test('compaction merges an extent that a trim left to begin inside a chunk', async () => {
  const system = await TestSystem.open('local')
  const log = await system.start({ compactFanIn: 2, compactBelowBytes: 1_000_000 })
  const stream = await openStream(log, await system.createStream())
  // Small packs, merged into one chunk.
  for (const tag of range(0, 4)) {
    await appendAll(stream, [tag])
    await log.pack()
  }
  const fork = await forkOf(system, log, stream, 3)
  await log.maintain()
  await stream.trim(2)
  for (const tag of [4, 5]) {
    await appendAll(stream, [tag])
    await log.pack()
    await log.maintain()
  }
  expect((await allTags(stream)).slice(-4)).toEqual([2, 3, 4, 5])
  expect(await allTags(fork)).toEqual([0, 1, 2])
  await log.close()
  await system.metadata.close()
})
