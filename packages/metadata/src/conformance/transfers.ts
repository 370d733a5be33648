import { expect, it } from 'vitest'
import { FencedError } from '../errors.ts'
import type { Transfer } from '../transfers.ts'
import { committedWal, type OpenMetadata, openedStreams, openWorld, topicStream, type World } from './world.ts'

export function transfersConformance(open: OpenMetadata): void {
  const withTwoNodes = async () => {
    const world = await openWorld(open)
    const two = await world.metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
    const [streamId = 0] = (await openedStreams(world, 'a')).map((stream) => stream.streamId)
    return { world, ...world.metadata, one: world.node, two, streamId }
  }
  const owner = async (world: World, streamId: number) =>
    (await world.metadata.streams.byStreamId([streamId]))[0]?.owner ?? null

  it('hands a stream over to the node that it was requested for, and remembers that', async () => {
    const { world, transfers, streams, one, two, streamId } = await withTwoNodes()
    const asked = await requested(world, streamId, 2, 10)
    expect(asked).toEqual({
      transferId: asked.transferId,
      streamId,
      toNodeId: 2,
      state: 'pending',
      requestedAtMs: 10,
      endedAtMs: null,
    })
    expect(await transfers.request(streamId, 2, 11)).toEqual(asked)
    expect(await transfers.pendingOf(one, 9)).toEqual([asked])
    expect(await transfers.pendingOf(two, 9)).toEqual([])
    expect(await transfers.pending({ afterTransferId: 0, limit: 9 })).toEqual([asked])
    expect(await transfers.pending({ afterTransferId: asked.transferId, limit: 9 })).toEqual([])
    expect(await transfers.handOver(two, [asked.transferId], 12)).toEqual([])
    const done = { ...asked, state: 'done', endedAtMs: 20 }
    expect(await transfers.handOver(one, [asked.transferId, 99], 20)).toEqual([done])
    expect(await transfers.handOver(one, [asked.transferId], 21)).toEqual([])
    expect(await transfers.get(asked.transferId)).toEqual(done)
    expect(await owner(world, streamId)).toEqual(two)
    expect(await streams.leaderEpochs(streamId)).toEqual([{ leaderEpoch: 2, startOffset: 0 }])
    expect((await streams.open(two, [streamId]))[0]).toMatchObject({ leaderEpoch: 2 })
    expect(await transfers.forget(20)).toBe(0)
    expect(await transfers.forget(21)).toBe(1)
    expect(await transfers.get(asked.transferId)).toBe(null)
  })

  it('refuses what cannot be', async () => {
    const { transfers, nodes, two, streamId } = await withTwoNodes()
    expect(await transfers.request(99, 2, 1)).toBe('no-stream')
    expect(await transfers.request(streamId, 3, 1)).toBe('no-node')
    expect(await transfers.request(streamId, 1, 1)).toBe('already-there')
    await nodes.fence(two)
    expect(await transfers.request(streamId, 2, 1)).toBe('no-node')
  })

  it('takes a hundred requests at once, none of them given up for another', async () => {
    const { world, transfers, one } = await withTwoNodes()
    const names = Array.from({ length: 100 }, (_, index) => `at-once-${index}`)
    const streamIds = (await openedStreams(world, ...names)).map((stream) => stream.streamId)
    world.statements.length = 0
    const asked = await Promise.all(streamIds.map((streamId) => requested(world, streamId, 2, 10)))
    expect(world.statements.filter((text) => text.startsWith('update "transfers"'))).toHaveLength(100)
    expect(new Set(asked.map(({ transferId }) => transferId)).size).toBe(100)
    const pending = await transfers.pendingOf(one, 200)
    expect(pending.map(({ streamId }) => streamId).sort((a, b) => a - b)).toEqual(streamIds)
  })

  it('turns to another target, or back', async () => {
    const { world, transfers, nodes, streamId, one } = await withTwoNodes()
    await nodes.register({ nodeId: 3, addresses: {}, slots: 1 }, 1)
    const first = await requested(world, streamId, 2, 1)
    const second = await requested(world, streamId, 3, 2)
    expect(await transfers.get(first.transferId)).toMatchObject({ state: 'failed', endedAtMs: 2 })
    expect(await transfers.pendingOf(one, 9)).toEqual([second])
    expect(await transfers.request(streamId, 1, 3)).toBe('already-there')
    expect(await transfers.pendingOf(one, 9)).toEqual([])
  })

  it('moves a stream that nobody has at once', async () => {
    const { world, streams, two } = await withTwoNodes()
    const [created] = await streams.create([topicStream('b')], 1)
    const streamId = created?.streamId ?? 0
    expect(await requested(world, streamId, 2, 5)).toMatchObject({ state: 'done', endedAtMs: 5 })
    expect(await owner(world, streamId)).toEqual(two)
  })

  it('fails where the target is gone, and leaves the stream to its owner', async () => {
    const { world, transfers, nodes, one, two, streamId } = await withTwoNodes()
    const asked = await requested(world, streamId, 2, 1)
    await nodes.fence(two)
    expect(await transfers.handOver(one, [asked.transferId], 9)).toMatchObject([{ state: 'failed', endedAtMs: 9 }])
    expect(await owner(world, streamId)).toEqual(one)
  })

  it('is ended by whoever places the stream when its owner died on the way', async () => {
    const { world, transfers, nodes, streams, log, one, two, streamId } = await withTwoNodes()
    await nodes.register({ nodeId: 3, addresses: {}, slots: 100 }, 1)
    await committedWal(world, 1)
    const asked = await requested(world, streamId, 2, 1)
    await nodes.fence(one)
    await expect(transfers.handOver(one, [asked.transferId], 2)).rejects.toThrow(FencedError)
    expect(await streams.place([streamId], 3)).toMatchObject([{ owner: 'unadopted' }])
    expect(await transfers.get(asked.transferId)).toEqual(asked)
    const walObjects = [{ node: one, sequence: 1 }]
    await log.commitPack(two, { objects: [], extents: [], states: [], walObjects, walSegments: [] }, 1)
    expect(await streams.place([streamId], 4)).toMatchObject([{ owner: two }])
    expect(await transfers.get(asked.transferId)).toEqual({ ...asked, state: 'done', endedAtMs: 4 })
  })

  it('has failed when another node has the stream after all', async () => {
    const { world, transfers, nodes, streams, one, two, streamId } = await withTwoNodes()
    const asked = await requested(world, streamId, 2, 1)
    await nodes.fence(two)
    await streams.release(one, [streamId])
    expect(await streams.place([streamId], 4)).toMatchObject([{ owner: one }])
    expect(await transfers.get(asked.transferId)).toMatchObject({ state: 'failed', endedAtMs: 4 })
  })

  it('goes with its stream', async () => {
    const { world, transfers, streams, one, streamId } = await withTwoNodes()
    const asked = await requested(world, streamId, 2, 1)
    await streams.delete([streamId], 2)
    expect(await transfers.get(asked.transferId)).toBe(null)
    expect(await transfers.pendingOf(one, 9)).toEqual([])
  })
}

async function requested(world: World, streamId: number, toNodeId: number, nowMs: number): Promise<Transfer> {
  const asked = await world.metadata.transfers.request(streamId, toNodeId, nowMs)
  if (typeof asked === 'string') throw new Error(`refused: ${asked}`)
  return asked
}
