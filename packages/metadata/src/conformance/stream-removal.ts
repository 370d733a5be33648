import { describe, expect, it } from 'vitest'
import { FencedError, StreamNotOwnedError } from '../errors.ts'
import {
  doomedKeys,
  extentOf,
  extentsOf,
  type OpenMetadata,
  openedStreams,
  openWorld,
  packed,
  topicStream,
} from './world.ts'

export function streamRemovalConformance(open: OpenMetadata): void {
  const withPacks = async () => {
    const world = await openWorld(open)
    const [first, second] = await openedStreams(world, 'a', 'b')
    const [a, b] = [first?.streamId ?? 0, second?.streamId ?? 0]
    await packed(world, [extentOf(a, 0, 10, 1), extentOf(b, 0, 10, 1, { position: 500 })], {
      states: [{ streamId: a, state: Uint8Array.of(1) }],
    })
    await packed(world, [extentOf(a, 10, 20, 2)])
    return { world, a, b }
  }

  describe('trimming', () => {
    it('drops extents that end at or before the watermark, and keeps the one it lies in', async () => {
      const { world, a, b } = await withPacks()
      const { streams } = world.metadata
      expect(await streams.trim(world.node, a, 9, 1)).toBe(9)
      expect(await extentsOf(world, a)).toHaveLength(2)
      expect(await streams.trim(world.node, a, 10, 1)).toBe(10)
      expect(await extentsOf(world, a)).toEqual(['[10, 20) data/2@100'])
      expect(await doomedKeys(world)).toEqual([])
      expect(await streams.trim(world.node, b, 10, 44)).toBe(10)
      expect(await world.metadata.log.doomed(100, 9)).toEqual([{ key: 'data/1', doomedAtMs: 44 }])
      expect((await streams.byStreamId([a, b])).map((row) => [row.startOffset, row.packedOffset])).toEqual([
        [10, 20],
        [10, 10],
      ])
    })

    it('never moves the watermark down', async () => {
      const { world, a } = await withPacks()
      await world.metadata.streams.trim(world.node, a, 12, 1)
      expect(await world.metadata.streams.trim(world.node, a, 3, 1)).toBe(12)
      expect(await world.metadata.streams.trim(world.node, a, 12, 1)).toBe(12)
    })

    it('may pass what is packed', async () => {
      const { world, a } = await withPacks()
      expect(await world.metadata.streams.trim(world.node, a, 25, 1)).toBe(25)
      expect(await extentsOf(world, a)).toEqual([])
      expect((await world.metadata.streams.byStreamId([a]))[0]).toMatchObject({ startOffset: 25, packedOffset: 20 })
    })

    it('says when the stream is gone', async () => {
      const { world, a } = await withPacks()
      await world.metadata.streams.delete([a], 1)
      expect(await world.metadata.streams.trim(world.node, a, 5, 1)).toBeNull()
    })

    it('refuses who does not own the stream: an earlier epoch, another node, nobody yet', async () => {
      const { world, a, b } = await withPacks()
      const { nodes, streams } = world.metadata
      const other = await nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
      await expect(streams.trim(other, a, 5, 1)).rejects.toThrow(StreamNotOwnedError)
      await streams.release(world.node, [b])
      await streams.open(other, [b])
      await expect(streams.trim(world.node, b, 5, 1)).rejects.toThrow(StreamNotOwnedError)
      const second = await nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
      await expect(streams.trim(world.node, a, 5, 1)).rejects.toThrow(FencedError)
      await expect(streams.trim(second, a, 5, 1)).rejects.toThrow(StreamNotOwnedError)
      const [unopened] = await streams.create([topicStream('c')], 1)
      await expect(streams.trim(second, unopened?.streamId ?? 0, 5, 1)).rejects.toThrow(StreamNotOwnedError)
      expect((await streams.byStreamId([a, b])).map((row) => row.startOffset)).toEqual([0, 0])
    })
  })

  describe('deleting', () => {
    it('takes everything of a stream away, and dooms objects that nothing points into any more', async () => {
      const { world, a, b } = await withPacks()
      const { streams, log } = world.metadata
      expect(await streams.delete([a, 99], 33)).toEqual([a])
      expect(await streams.byStreamId([a])).toEqual([])
      expect(await streams.byName(['/a'])).toEqual([])
      expect(await streams.leaderEpochs(a)).toEqual([])
      expect(await log.streamStates([a])).toEqual([])
      expect(await log.packedOffsets([a])).toEqual([])
      expect(await log.doomed(33, 9)).toEqual([{ key: 'data/2', doomedAtMs: 33 }])
      expect(await extentsOf(world, b)).toEqual(['[0, 10) data/1@500'])
      expect(await streams.delete([a, b], 34)).toEqual([b])
      expect(await doomedKeys(world)).toEqual(['data/1', 'data/2'])
      expect(await streams.count()).toBe(0)
      expect((await log.totals()).objects).toBe(0)
    })

    it('frees the names', async () => {
      const { world, a } = await withPacks()
      await world.metadata.streams.delete([a], 1)
      const [again] = await world.metadata.streams.create([topicStream('a')], 2)
      const [opened] = await world.metadata.streams.open(world.node, [again?.streamId ?? 0])
      expect(opened).toMatchObject({ leaderEpoch: 1, startOffset: 0, packedOffset: 0, extents: [], state: null })
    })

    it('deletes thousands at once', async () => {
      const world = await openWorld(open)
      const streams = await openedStreams(world, ...Array.from({ length: 2500 }, (_, index) => `t${index}`))
      const streamIds = streams.map((stream) => stream.streamId)
      await packed(
        world,
        streamIds.map((streamId, index) => extentOf(streamId, 0, 1, 1 + (index % 2))),
      )
      expect(await world.metadata.streams.delete(streamIds, 1)).toHaveLength(2500)
      expect(await doomedKeys(world)).toEqual(['data/1', 'data/2'])
    })
  })
}
