import { describe, expect, it } from 'vitest'
import { FencedError } from '../errors.ts'
import { committedWal, extentOf, type OpenMetadata, openedStreams, openWorld, packed, walObject } from './world.ts'

export function walConformance(open: OpenMetadata): void {
  const restart = (world: Awaited<ReturnType<typeof openWorld>>) =>
    world.metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 2)

  describe('WAL objects', () => {
    it('keeps what was committed, byte for byte, by epoch and sequence', async () => {
      const world = await openWorld(open)
      const { metadata, node } = world
      const index = Uint8Array.from({ length: 70_000 }, (_, at) => at % 251)
      await metadata.log.commitWalObjects(node, [{ ...walObject(node, 1), index }])
      await committedWal(world, 2, 3)
      const second = await restart(world)
      await committedWal({ ...world, node: second }, 1)
      const other = await metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
      await committedWal({ ...world, node: other }, 1)
      expect(await metadata.log.walObjects(1)).toEqual([
        { node, ...walObject(node, 1), index },
        { node, ...walObject(node, 2) },
        { node, ...walObject(node, 3) },
        { node: second, ...walObject(second, 1) },
      ])
      expect(await metadata.log.walObjects(2)).toEqual([{ node: other, ...walObject(other, 1) }])
      expect(await metadata.log.walObjects(3)).toEqual([])
    })

    it('refuses a sequence that does not continue the last one, all of the call', async () => {
      const world = await openWorld(open)
      const { metadata } = world
      await expect(committedWal(world, 2)).rejects.toThrow('does not continue')
      await committedWal(world, 1)
      await expect(committedWal(world, 1)).rejects.toThrow('does not continue')
      await expect(committedWal(world, 3)).rejects.toThrow('does not continue')
      await expect(committedWal(world, 2, 4)).rejects.toThrow()
      expect(await metadata.log.walObjects(1)).toHaveLength(1)
      await committedWal(world, 2)
    })

    it('refuses a fenced epoch and one that never was', async () => {
      const world = await openWorld(open)
      await committedWal(world, 1)
      await restart(world)
      await expect(committedWal(world, 2)).rejects.toThrow(FencedError)
      await expect(committedWal({ ...world, node: { nodeId: 1, nodeEpoch: 9 } }, 1)).rejects.toThrow(FencedError)
      await expect(committedWal({ ...world, node: { nodeId: 9, nodeEpoch: 1 } }, 1)).rejects.toThrow(FencedError)
      expect(await world.metadata.log.walObjects(1)).toHaveLength(1)
    })

    it('commits nothing when given nothing', async () => {
      const world = await openWorld(open)
      await committedWal(world)
      await committedWal(world, 1)
    })

    it('tells whether a commit happened, also after packing took its row and after fencing', async () => {
      const world = await openWorld(open)
      const { metadata, node } = world
      const [stream] = await openedStreams(world, 'a')
      const committed = (sequence: number, of = node) => metadata.log.settleWalCommit(of, sequence, 0)
      await committedWal(world, 1, 2)
      expect([await committed(1), await committed(2), await committed(3)]).toEqual([true, true, false])
      await packed(world, [extentOf(stream?.streamId ?? 0, 0, 5, 1)], { walObjects: [{ node, sequence: 1 }] })
      expect(await committed(1)).toBe(true)
      const second = await restart(world)
      expect([await committed(2), await committed(3), await committed(1, second)]).toEqual([true, false, false])
      expect(await committed(1, { nodeId: 9, nodeEpoch: 1 })).toBe(false)
    })

    it('lets no commit happen after it was told not to have happened', async () => {
      const world = await openWorld(open)
      const { metadata, node } = world
      const commit = (sequence: number, attempt: number) =>
        metadata.log.commitWalObjects(node, [walObject(node, sequence)], attempt)
      await commit(1, 0)
      expect(await metadata.log.settleWalCommit(node, 2, 0)).toBe(false)
      await expect(commit(2, 0)).rejects.toThrow('does not continue')
      await commit(2, 1)
      expect(await metadata.log.settleWalCommit(node, 2, 1)).toBe(true)
      // A question that comes a second time, or late, takes nothing back.
      expect(await metadata.log.settleWalCommit(node, 2, 0)).toBe(true)
      await commit(3, 2)
      expect(await metadata.log.walObjects(1)).toHaveLength(3)
    })
  })

  describe('WAL segments', () => {
    const segment = (segmentId: number) => ({ segmentId, key: `wal/1/1/s${segmentId}`, sizeBytes: 64 })

    it('keeps segments by id until they are packed', async () => {
      const world = await openWorld(open)
      const { metadata, node } = world
      const [stream] = await openedStreams(world, 'a')
      await metadata.log.createWalSegment(node, segment(2))
      await metadata.log.createWalSegment(node, segment(1))
      await metadata.log.closeWalSegment(node, 1, 32)
      expect(await metadata.log.walSegments(1)).toEqual([
        { node, ...segment(1), committedBytes: 32 },
        { node, ...segment(2), committedBytes: null },
      ])
      expect(await metadata.log.walSegments(2)).toEqual([])
      await packed(world, [extentOf(stream?.streamId ?? 0, 0, 5, 1)], { walSegments: [1] })
      expect((await metadata.log.walSegments(1)).map((row) => row.segmentId)).toEqual([2])
    })

    it('records a segment again only as it was', async () => {
      const { metadata, node } = await openWorld(open)
      await metadata.log.createWalSegment(node, segment(1))
      await metadata.log.createWalSegment(node, segment(1))
      const other = metadata.log.createWalSegment(node, { ...segment(1), sizeBytes: 65 })
      await expect(other).rejects.toThrow('segment 1')
      expect(await metadata.log.walSegments(1)).toHaveLength(1)
    })

    it('closes a segment again only at the same length', async () => {
      const { metadata, node } = await openWorld(open)
      await metadata.log.createWalSegment(node, segment(1))
      await metadata.log.closeWalSegment(node, 1, 0)
      await metadata.log.closeWalSegment(node, 1, 0)
      await expect(metadata.log.closeWalSegment(node, 1, 32)).rejects.toThrow('segment 1')
      await expect(metadata.log.closeWalSegment(node, 2, 0)).rejects.toThrow('segment 2')
      expect((await metadata.log.walSegments(1))[0]?.committedBytes).toBe(0)
    })

    it('refuses a fenced node; its next epoch may close what it left open', async () => {
      const world = await openWorld(open)
      const { metadata, node } = world
      await metadata.log.createWalSegment(node, segment(1))
      const second = await restart(world)
      await expect(metadata.log.createWalSegment(node, segment(2))).rejects.toThrow(FencedError)
      await expect(metadata.log.closeWalSegment(node, 1, 32)).rejects.toThrow(FencedError)
      await metadata.log.closeWalSegment(second, 1, 16)
      expect(await metadata.log.walSegments(1)).toEqual([{ node, ...segment(1), committedBytes: 16 }])
    })
  })
}
