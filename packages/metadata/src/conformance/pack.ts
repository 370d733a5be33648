import { describe, expect, it } from 'vitest'
import { FencedError } from '../errors.ts'
import type { PackCommit } from '../log-index.ts'
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
  topicStream,
  type World,
  walKey,
} from './world.ts'

export function packConformance(open: OpenMetadata): void {
  describe('packing', () => {
    it('moves entries from the WAL into a data object: WAL rows go, their keys are doomed', async () => {
      const { world, a, b } = await withTwoStreams(open)
      const { metadata, node } = world
      await committedWal(world, 1, 2, 3)
      const { skippedStreamIds } = await packed(
        world,
        [extentOf(a, 0, 5, 1), extentOf(b, 0, 7, 1, { position: 50 }), extentOf(b, 7, 8, 1, { position: 120 })],
        {
          states: [
            { streamId: a, state: Uint8Array.of(1) },
            { streamId: b, state: new Uint8Array() },
          ],
          walObjects: [1, 2].map((sequence) => ({ node, sequence })),
        },
        777,
      )
      expect(skippedStreamIds).toEqual([])
      expect(await extentsOf(world, a)).toEqual(['[0, 5) data/1@0'])
      expect(await extentsOf(world, b)).toEqual(['[0, 7) data/1@50', '[7, 8) data/1@120'])
      expect((await metadata.log.walObjects(1)).map((row) => row.sequence)).toEqual([3])
      expect(await metadata.log.doomed(777, 9)).toEqual([
        { key: walKey(node, 1), doomedAtMs: 777 },
        { key: walKey(node, 2), doomedAtMs: 777 },
      ])
      expect(await metadata.log.packedOffsets([b, a, 99])).toEqual(
        expect.arrayContaining([
          { streamId: a, packedOffset: 5 },
          { streamId: b, packedOffset: 8 },
        ]),
      )
      expect(await metadata.log.packedOffsets([99])).toEqual([])
      expect(await metadata.log.totals()).toEqual({ objects: 1, lengthBytes: 1_000_000, doomed: 2 })
    })

    it('replaces the state of each stream, and leaves those of others', async () => {
      const { world, a, b } = await withTwoStreams(open)
      const state = (streamId: number, ...bytes: number[]) => ({ streamId, state: Uint8Array.from(bytes) })
      await packed(world, [extentOf(a, 0, 5, 1), extentOf(b, 0, 5, 1)], { states: [state(a, 1), state(b, 2)] })
      await packed(world, [extentOf(a, 5, 6, 2)], { states: [state(a, 3, 4)] })
      await packed(world, [extentOf(b, 5, 6, 3)])
      const states = await world.metadata.log.streamStates([a, b, 99])
      expect(states.sort((x, y) => x.streamId - y.streamId)).toEqual([state(a, 3, 4), state(b, 2)])
    })

    it('refuses a state without extents: nobody could say as of which offset it is', async () => {
      const { world, a, b } = await withTwoStreams(open)
      const states = [{ streamId: b, state: Uint8Array.of(1) }]
      await expect(packed(world, [extentOf(a, 0, 5, 1)], { states })).rejects.toThrow(`stream ${b}`)
    })

    it('refuses a gap, an overlap, and extents outside of their object, and then changes nothing', async () => {
      const { world, a, b } = await withTwoStreams(open)
      await committedWal(world, 1)
      await packed(world, [extentOf(a, 0, 5, 1)])
      const walObjects = [{ node: world.node, sequence: 1 }]
      const refused = (...extents: Parameters<typeof packed>[1][]) =>
        Promise.all(extents.map((list) => expect(packed(world, list, { walObjects })).rejects.toThrow('stream')))
      await refused([extentOf(b, 0, 3, 2), extentOf(a, 6, 8, 2)])
      await refused([extentOf(b, 0, 3, 2), extentOf(a, 4, 8, 2)])
      await refused([extentOf(b, 0, 3, 2), extentOf(b, 4, 5, 2)])
      await refused([extentOf(b, 0, 3, 2), extentOf(a, 5, 6, 2, { position: 999_999 })])
      await refused([extentOf(b, 0, 3, 2), extentOf(a, 5, 5, 2)])
      await refused([extentOf(b, 0, 3, 2), extentOf(a, 5, 6.5, 2)])
      expect(await extentsOf(world, b)).toEqual([])
      expect(await world.metadata.log.walObjects(1)).toHaveLength(1)
    })

    it('leaves out what is packed already: the same pack again is harmless', async () => {
      const { world, a } = await withTwoStreams(open)
      const { metadata, node } = world
      await committedWal(world, 1)
      const pack: PackCommit = {
        objects: [dataObject(1)],
        extents: [extentOf(a, 0, 5, 1)],
        states: [{ streamId: a, state: Uint8Array.of(1) }],
        walObjects: [{ node, sequence: 1 }],
        walSegments: [],
      }
      await metadata.log.announceUpload('data/1', farMs)
      await metadata.log.commitPack(node, pack, 1)
      await packed(world, [extentOf(a, 5, 9, 2)], { states: [{ streamId: a, state: Uint8Array.of(2) }] })
      expect(await metadata.log.commitPack(node, pack, 2)).toEqual({ skippedStreamIds: [] })
      expect(await extentsOf(world, a)).toEqual(['[0, 5) data/1@0', '[5, 9) data/2@50'])
      expect(await metadata.log.streamStates([a])).toEqual([{ streamId: a, state: Uint8Array.of(2) }])
      expect(await doomedKeys(world)).toEqual([walKey(node, 1)])
    })

    it('takes the part of a stream that is not packed yet', async () => {
      const { world, a } = await withTwoStreams(open)
      await packed(world, [extentOf(a, 0, 5, 1)])
      await packed(world, [extentOf(a, 0, 5, 2), extentOf(a, 5, 9, 2)])
      expect(await extentsOf(world, a)).toEqual(['[0, 5) data/1@0', '[5, 9) data/2@50'])
    })

    it('leaves out streams that are gone and says so; an object nothing points into is doomed', async () => {
      const { world, a, b } = await withTwoStreams(open)
      await world.metadata.streams.delete([a], 1)
      const states = [{ streamId: a, state: Uint8Array.of(1) }]
      const extents = [extentOf(a, 0, 5, 1), extentOf(b, 0, 5, 2)]
      expect(await packed(world, extents, { states })).toEqual({ skippedStreamIds: [a] })
      expect(await world.metadata.log.streamStates([a])).toEqual([])
      expect(await doomedKeys(world)).toEqual(['data/1'])
    })

    it('leaves out streams that another live node has opened', async () => {
      const { world, a, b } = await withTwoStreams(open)
      const other = await world.metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
      await world.metadata.streams.release(world.node, [a])
      await world.metadata.streams.open(other, [a])
      const outcome = await packed(world, [extentOf(a, 0, 5, 1), extentOf(b, 0, 5, 1)])
      expect(outcome).toEqual({ skippedStreamIds: [a] })
      expect(await extentsOf(world, a, other)).toEqual([])
      expect(await extentsOf(world, b)).toEqual(['[0, 5) data/1@0'])
    })

    it('does not keep what the trim watermark has passed, and goes on after it', async () => {
      const { world, a } = await withTwoStreams(open)
      await world.metadata.streams.trim(world.node, a, 6, 1)
      await packed(world, [extentOf(a, 0, 5, 1), extentOf(a, 5, 8, 2)])
      expect(await extentsOf(world, a)).toEqual(['[5, 8) data/2@50'])
      expect(await doomedKeys(world)).toEqual(['data/1'])
      await world.metadata.streams.trim(world.node, a, 20, 1)
      await packed(world, [extentOf(a, 15, 22, 3)])
      expect(await extentsOf(world, a)).toEqual(['[15, 22) data/3@150'])
      expect(await world.metadata.log.packedOffsets([a])).toEqual([{ streamId: a, packedOffset: 22 }])
    })

    it('keeps offsets up to 2^53 - 1 and checksums exactly', async () => {
      const { world, a } = await withTwoStreams(open)
      const end = Number.MAX_SAFE_INTEGER
      const extents = [
        extentOf(a, 0, end - 1, 1, { lengthBytes: 9, crc32c: 0xffff_ffff, maxTimestampMs: -1 }),
        extentOf(a, end - 1, end, 1, { position: 9, lengthBytes: 1, crc32c: 0, maxTimestampMs: end }),
      ]
      await packed(world, extents)
      const [stream] = await world.metadata.streams.open(world.node, [a])
      const where = { objectKey: 'data/1', objectBytes: 1_000_000, objectStreamId: a }
      expect(stream?.extents).toEqual(extents.map((extent) => ({ ...extent, ...where })))
      expect(stream?.packedOffset).toBe(end)
    })
  })

  describe('adopting', () => {
    it('points into the WAL itself, which then lives as long as extents do', async () => {
      const { world, a } = await withTwoStreams(open)
      const { metadata, node } = world
      await committedWal(world, 1)
      await metadata.log.createWalSegment(node, { segmentId: 5, key: 'wal/1/1/s5', sizeBytes: 64 })
      await metadata.log.commitPack(
        node,
        {
          objects: [
            { objectId: 1, key: walKey(node, 1), lengthBytes: 1000 },
            { objectId: 2, key: 'wal/1/1/s5', lengthBytes: 1000 },
          ],
          extents: [extentOf(a, 0, 5, 1, { crc32c: 7 }), extentOf(a, 5, 6, 2)],
          states: [],
          walObjects: [{ node, sequence: 1 }],
          walSegments: [5],
        },
        1,
      )
      expect(await extentsOf(world, a)).toEqual([`[0, 5) ${walKey(node, 1)}@0`, '[5, 6) wal/1/1/s5@50'])
      expect(await metadata.log.walObjects(1)).toEqual([])
      expect(await metadata.log.walSegments(1)).toEqual([])
      expect(await doomedKeys(world)).toEqual([])
      await metadata.streams.trim(node, a, 5, 2)
      expect(await doomedKeys(world)).toEqual([walKey(node, 1)])
      await metadata.streams.trim(node, a, 6, 3)
      expect(await doomedKeys(world)).toEqual([walKey(node, 1), 'wal/1/1/s5'])
    })

    it('takes over what a fenced node left, whichever node does it', async () => {
      const { world, a } = await withTwoStreams(open)
      const { metadata, node } = world
      await committedWal(world, 1)
      await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 2)
      const other = await metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 2)
      const adopting = { ...world, node: other }
      expect(await adopt(adopting, node, 1, [extentOf(a, 0, 5, 1)], true)).toEqual({ skippedStreamIds: [] })
      expect(await extentsOf(adopting, a, other)).toEqual([`[0, 5) ${walKey(node, 1)}@0`])
    })

    it('never takes the WAL of a node that is alive', async () => {
      const { world, a } = await withTwoStreams(open)
      await committedWal(world, 1)
      const other = await world.metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 2)
      await world.metadata.streams.release(world.node, [a])
      await world.metadata.streams.open(other, [a])
      const adopting = adopt({ ...world, node: other }, world.node, 1, [extentOf(a, 0, 5, 1)], true)
      await expect(adopting).rejects.toThrow('node 1 still writes')
      expect(await world.metadata.log.walObjects(1)).toHaveLength(1)
      expect(await extentsOf(world, a, other)).toEqual([])
    })

    it('takes streams out of one WAL object one at a time', async () => {
      const { world, a, b } = await withTwoStreams(open)
      const { metadata, node } = world
      await committedWal(world, 1)
      await adopt(world, node, 1, [extentOf(a, 0, 5, 1)], false)
      expect(await metadata.log.walObjects(1)).toHaveLength(1)
      await metadata.streams.trim(node, a, 5, 1)
      // Nothing points into it for the moment, but its row does.
      expect(await doomedKeys(world)).toEqual([])
      await adopt(world, node, 2, [extentOf(b, 0, 5, 2, { position: 50 })], false)
      await adopt(world, node, 3, [extentOf(a, 5, 6, 3, { position: 100 })], true)
      expect(await extentsOf(world, b)).toEqual([`[0, 5) ${walKey(node, 1)}@50`])
      expect(await extentsOf(world, a)).toEqual([`[5, 6) ${walKey(node, 1)}@100`])
      expect((await metadata.log.totals()).objects).toBe(1)
      await metadata.streams.delete([a], 1)
      expect(await doomedKeys(world)).toEqual([])
      await metadata.streams.delete([b], 1)
      expect(await doomedKeys(world)).toEqual([walKey(node, 1)])
    })
  })

  it('refuses to pack for a fenced node, all of it', async () => {
    const { world, a } = await withTwoStreams(open)
    await committedWal(world, 1)
    const second = await world.metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 2)
    const walObjects = [{ node: world.node, sequence: 1 }]
    await expect(packed(world, [extentOf(a, 0, 5, 1)], { walObjects })).rejects.toThrow(FencedError)
    expect(await world.metadata.log.walObjects(1)).toHaveLength(1)
    expect(await extentsOf(world, a, second)).toEqual([])
  })

  it('packs streams that were never opened', async () => {
    const world = await openWorld(open)
    const [stream] = await world.metadata.streams.create([topicStream('a')], 1)
    const streamId = stream?.streamId ?? 0
    expect(await packed(world, [extentOf(streamId, 0, 5, 1)])).toEqual({ skippedStreamIds: [] })
  })
}

async function withTwoStreams(open: OpenMetadata): Promise<{ world: World; a: number; b: number }> {
  const world = await openWorld(open)
  const [a, b] = await openedStreams(world, 'a', 'b')
  return { world, a: a?.streamId ?? 0, b: b?.streamId ?? 0 }
}

/** Takes extents over from WAL object 1 of `writer` under `objectId`; `whole` = its row ends here. */
function adopt(
  world: World,
  writer: World['node'],
  objectId: number,
  extents: PackCommit['extents'],
  whole: boolean,
): Promise<{ skippedStreamIds: number[] }> {
  const objects = [{ objectId, key: walKey(writer, 1), lengthBytes: 1000 }]
  const walObjects = whole ? [{ node: writer, sequence: 1 }] : []
  return world.metadata.log.commitPack(world.node, { objects, extents, states: [], walObjects, walSegments: [] }, 1)
}
