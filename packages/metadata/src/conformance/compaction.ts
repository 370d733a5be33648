import { expect, it } from 'vitest'
import { FencedError, UploadExpiredError } from '../errors.ts'
import type { Compaction } from '../log-index.ts'
import {
  committedWal,
  dataObject,
  doomedKeys,
  extentOf,
  extentsOf,
  farMs,
  type OpenMetadata,
  openedStreams,
  openWorld,
  packed,
  type World,
  walKey,
} from './world.ts'

export function compactionConformance(open: OpenMetadata): void {
  it('puts one extent in the place of a run of them and dooms what they pointed into', async () => {
    const { world, a, b } = await withThreePacks(open)
    await compact(world, mergedAll(a, b))
    expect(await extentsOf(world, a)).toEqual(['[0, 30) data/9@0'])
    expect(await extentsOf(world, b)).toEqual(['[0, 5) data/9@300'])
    expect(await doomedKeys(world)).toEqual(['data/1', 'data/2', 'data/3'])
    expect((await world.metadata.log.extentsOfObject(9)).map((extent) => extent.maxTimestampMs)).toEqual([1030, 1005])
    expect(await world.metadata.log.extentsOfObject(1)).toEqual([])
    expect((await world.metadata.log.totals()).objects).toBe(1)
    expect(await world.metadata.log.packedOffsets([a])).toEqual([{ streamId: a, packedOffset: 30 }])
  })

  it('starts at a later cut where the stream was trimmed meanwhile', async () => {
    const { world, a, b } = await withThreePacks(open)
    await world.metadata.streams.trim(world.node, a, 15, 1)
    await compact(world, mergedAll(a, b))
    expect(await extentsOf(world, a)).toEqual(['[10, 30) data/9@100'])
    const [extent] = await world.metadata.log.extentsOfObject(9)
    expect(extent).toMatchObject({ lengthBytes: 200, maxTimestampMs: 1030 })
  })

  it('leaves out streams that went meanwhile, and dooms the new object when nothing is left', async () => {
    const { world, a, b } = await withThreePacks(open)
    await world.metadata.streams.delete([a], 1)
    await compact(world, mergedAll(a, b))
    expect(await extentsOf(world, b)).toEqual(['[0, 5) data/9@300'])
    await world.metadata.streams.delete([b], 1)
    await compact(world, { ...mergedAll(a, b), object: dataObject(10) })
    expect(await doomedKeys(world)).toEqual(['data/1', 'data/10', 'data/2', 'data/3', 'data/9'])
    expect((await world.metadata.log.totals()).objects).toBe(0)
  })

  it('keeps an object of which something is not covered', async () => {
    const { world, a, b } = await withThreePacks(open)
    const { object, replaced, extents } = mergedAll(a, b)
    await compact(world, { object, replaced, extents: extents.filter((extent) => extent.streamId === a) })
    expect(await extentsOf(world, b)).toEqual(['[0, 5) data/1@500'])
    expect(await doomedKeys(world)).toEqual(['data/2', 'data/3'])
    expect(await candidate(world, 1)).toEqual({ liveBytes: 50, extents: 1 })
  })

  it('keeps a WAL object that still has entries to adopt', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const a = stream?.streamId ?? 0
    await committedWal(world, 1)
    const objects = [{ ...dataObject(1), key: walKey(world.node, 1) }]
    const pack = { objects, extents: [extentOf(a, 0, 10, 1)], states: [], walObjects: [], walSegments: [] }
    await world.metadata.log.commitPack(world.node, pack, 1)
    const cuts = [{ baseOffset: 0, position: 0 }]
    await compact(world, { object: dataObject(2), replaced: [1], extents: [{ ...extentOf(a, 0, 10, 2), cuts }] })
    expect(await extentsOf(world, a)).toEqual(['[0, 10) data/2@0'])
    expect(await doomedKeys(world)).toEqual([])
  })

  it('is harmless a second time', async () => {
    const { world, a, b } = await withThreePacks(open)
    await compact(world, mergedAll(a, b))
    await world.metadata.log.commitCompaction(world.node, mergedAll(a, b), 9)
    expect(await extentsOf(world, a)).toEqual(['[0, 30) data/9@0'])
    expect(await doomedKeys(world)).toEqual(['data/1', 'data/2', 'data/3'])
  })

  it('refuses extents that do not stand for what they replace, and then changes nothing', async () => {
    const { world, a, b } = await withThreePacks(open)
    const good = mergedAll(a, b)
    const [first, second] = good.extents
    if (first === undefined || second === undefined) throw new Error('two extents were made above')
    const wrong = [
      { ...first, endOffset: 29 },
      { ...first, cuts: first.cuts.slice(1) },
      { ...first, lengthBytes: 299 },
      { ...first, position: 999_900 },
    ]
    for (const extent of wrong) {
      await expect(compact(world, { ...good, extents: [second, extent] })).rejects.toThrow()
    }
    const gap = compact(world, { ...good, replaced: [1, 3] })
    await expect(gap).rejects.toThrow('not consecutive')
    expect(await extentsOf(world, a)).toEqual(['[0, 10) data/1@0', '[10, 20) data/2@100', '[20, 30) data/3@200'])
    expect(await doomedKeys(world)).toEqual([])
  })

  it('refuses a fenced node, and an object whose upload is overdue', async () => {
    const { world, a, b } = await withThreePacks(open)
    await world.metadata.log.announceUpload('data/9', 50)
    const late = world.metadata.log.commitCompaction(world.node, mergedAll(a, b), 50)
    await expect(late).rejects.toThrow(UploadExpiredError)
    const second = await world.metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 2)
    await expect(compact(world, mergedAll(a, b))).rejects.toThrow(FencedError)
    expect(await extentsOf(world, b, second)).toEqual(['[0, 5) data/1@500'])
  })

  it('proposes small and thinly used objects, smallest first', async () => {
    const { world, a } = await withThreePacks(open)
    const { metadata, node } = world
    const propose = async (maxBytes: number, limit = 9) =>
      (await metadata.log.compactionCandidates({ maxBytes, limit })).map((it) => [it.objectId, it.liveBytes])
    await packed(world, [extentOf(a, 30, 40, 4, { position: 0, lengthBytes: 5000 })])
    expect(await propose(1000)).toEqual([
      [2, 100],
      [3, 100],
      [1, 150],
    ])
    expect(await propose(1000, 2)).toHaveLength(2)
    expect(await propose(99)).toEqual([])
    await metadata.streams.trim(node, a, 10, 1)
    expect(await propose(5000)).toEqual([
      [1, 50],
      [2, 100],
      [3, 100],
      [4, 5000],
    ])
    const [thin] = await metadata.log.compactionCandidates({ maxBytes: 50, limit: 1 })
    expect(thin).toEqual({ objectId: 1, key: 'data/1', lengthBytes: 1_000_000, liveBytes: 50, extents: 1 })
  })
}

/** Stream a in three packs of ten offsets; five offsets of stream b in the first of them. */
async function withThreePacks(open: OpenMetadata): Promise<{ world: World; a: number; b: number }> {
  const world = await openWorld(open)
  const [first, second] = await openedStreams(world, 'a', 'b')
  const [a, b] = [first?.streamId ?? 0, second?.streamId ?? 0]
  await packed(world, [extentOf(a, 0, 10, 1), extentOf(b, 0, 5, 1, { position: 500 })])
  await packed(world, [extentOf(a, 10, 20, 2)])
  await packed(world, [extentOf(a, 20, 30, 3)])
  return { world, a, b }
}

function mergedAll(a: number, b: number): Compaction {
  return {
    object: dataObject(9),
    replaced: [1, 2, 3],
    extents: [
      { ...extentOf(a, 0, 30, 9), cuts: [0, 10, 20].map((base) => ({ baseOffset: base, position: base * 10 })) },
      { ...extentOf(b, 0, 5, 9, { position: 300 }), cuts: [{ baseOffset: 0, position: 300 }] },
    ],
  }
}

async function compact(world: World, compaction: Compaction): Promise<void> {
  await world.metadata.log.announceUpload(compaction.object.key, farMs)
  await world.metadata.log.commitCompaction(world.node, compaction, 8)
}

async function candidate(world: World, objectId: number) {
  const all = await world.metadata.log.compactionCandidates({ maxBytes: farMs, limit: 99 })
  const found = all.find((it) => it.objectId === objectId)
  return found && { liveBytes: found.liveBytes, extents: found.extents }
}
