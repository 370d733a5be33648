import { expect, it } from 'vitest'
import { FencedError, StreamNotOwnedError } from '../errors.ts'
import { committedWal, extentOf, type OpenMetadata, openedStreams, openWorld, packed, topicStream } from './world.ts'

export function streamOwnershipConformance(open: OpenMetadata): void {
  const register = (metadata: Awaited<ReturnType<typeof openWorld>>['metadata'], nodeId: number) =>
    metadata.nodes.register({ nodeId, addresses: {}, slots: 1 }, 1)

  it('makes the node the owner and begins leader epoch 1', async () => {
    const { metadata, node } = await openWorld(open)
    const [created] = await metadata.streams.create([topicStream('a')], 1)
    const streamId = created?.streamId ?? 0
    expect(await metadata.streams.leaderEpochs(streamId)).toEqual([])
    const opened = await metadata.streams.open(node, [streamId])
    expect(opened).toEqual([{ ...created, owner: node, leaderEpoch: 1, extents: [], epochStartOffset: 0, state: null }])
    const { extents, epochStartOffset, state, ...record } = opened[0] ?? { extents: null, state: null }
    expect(await metadata.streams.byStreamId([streamId])).toEqual([record])
    expect(await metadata.streams.leaderEpochs(streamId)).toEqual([{ leaderEpoch: 1, startOffset: 0 }])
    expect([extents, epochStartOffset, state]).toEqual([[], 0, null])
  })

  it('keeps the leader epoch when the same node epoch opens again', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const [again] = await world.metadata.streams.open(world.node, [stream?.streamId ?? 0])
    expect(again).toMatchObject({ leaderEpoch: 1, epochStartOffset: 0 })
  })

  it('begins a leader epoch at the end of the log for another epoch of the node, and for another node', async () => {
    const world = await openWorld(open)
    const { metadata } = world
    const [stream] = await openedStreams(world, 'a')
    const streamId = stream?.streamId ?? 0
    await packed(world, [extentOf(streamId, 0, 10, 1)], { states: [{ streamId, state: Uint8Array.of(1, 2) }] })
    const restarted = await register(metadata, 1)
    const [second] = await metadata.streams.open(restarted, [streamId])
    expect(second).toMatchObject({ owner: restarted, leaderEpoch: 2, packedOffset: 10, epochStartOffset: 10 })
    await packed({ ...world, node: restarted }, [extentOf(streamId, 10, 25, 2, { crc32c: 0xfedc_ba98 })])
    const other = await register(metadata, 2)
    await metadata.nodes.fence(restarted)
    const [third] = await metadata.streams.open(other, [streamId])
    expect(third).toMatchObject({
      owner: other,
      leaderEpoch: 3,
      startOffset: 0,
      packedOffset: 25,
      epochStartOffset: 25,
    })
    const [same] = await metadata.streams.open(other, [streamId])
    expect(same).toEqual(third)
    expect(third?.state).toEqual(Uint8Array.of(1, 2))
    expect(third?.extents).toEqual([
      { ...extentOf(streamId, 0, 10, 1), objectKey: 'data/1', objectBytes: 1_000_000, objectStreamId: streamId },
      {
        ...extentOf(streamId, 10, 25, 2, { crc32c: 0xfedc_ba98 }),
        objectKey: 'data/2',
        objectBytes: 1_000_000,
        objectStreamId: streamId,
      },
    ])
    expect(await metadata.streams.leaderEpochs(streamId)).toEqual([
      { leaderEpoch: 1, startOffset: 0 },
      { leaderEpoch: 2, startOffset: 10 },
      { leaderEpoch: 3, startOffset: 25 },
    ])
  })

  it('forgets leader epochs in which nothing was written, as Kafka does', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const streamId = stream?.streamId ?? 0
    await packed(world, [extentOf(streamId, 0, 10, 1)])
    for (let start = 0; start < 3; start++) {
      await world.metadata.streams.open(await register(world.metadata, 1), [streamId])
    }
    expect(await world.metadata.streams.leaderEpochs(streamId)).toEqual([
      { leaderEpoch: 1, startOffset: 0 },
      { leaderEpoch: 4, startOffset: 10 },
    ])
  })

  it('forgets leader epochs whose records are all trimmed, but for the one the watermark lies in', async () => {
    const world = await openWorld(open)
    const { metadata } = world
    const [stream] = await openedStreams(world, 'a')
    const streamId = stream?.streamId ?? 0
    let { node } = world
    for (const objectId of [1, 2, 3]) {
      await packed({ ...world, node }, [extentOf(streamId, objectId * 10 - 10, objectId * 10, objectId)])
      node = await register(metadata, 1)
      await metadata.streams.open(node, [streamId])
    }
    const epochs = async () => (await metadata.streams.leaderEpochs(streamId)).map((epoch) => epoch.leaderEpoch)
    await metadata.streams.trim(node, streamId, 9, 1)
    expect(await epochs()).toEqual([1, 2, 3, 4])
    await metadata.streams.trim(node, streamId, 10, 1)
    expect(await epochs()).toEqual([2, 3, 4])
    await metadata.streams.trim(node, streamId, 25, 1)
    expect(await epochs()).toEqual([3, 4])
  })

  it('takes no stream from a live node, and from a fenced one only when its WAL is adopted', async () => {
    const world = await openWorld(open)
    const { metadata, node } = world
    const [stream] = await openedStreams(world, 'a')
    const streamId = stream?.streamId ?? 0
    await committedWal(world, 1)
    const other = await register(metadata, 2)
    const opened = async () => (await metadata.streams.open(other, [streamId])).map(({ leaderEpoch }) => leaderEpoch)
    expect(await opened()).toEqual([])
    expect((await metadata.streams.byStreamId([streamId]))[0]).toMatchObject({ owner: node, leaderEpoch: 1 })
    expect(await metadata.log.unadoptedNodes()).toEqual([])
    await metadata.nodes.fence(node)
    expect(await opened()).toEqual([])
    expect(await metadata.log.unadoptedNodes()).toEqual([node])
    const adopted = { walObjects: [{ node, sequence: 1 }] }
    await packed({ ...world, node: other }, [extentOf(streamId, 0, 10, 1)], adopted)
    expect(await metadata.log.unadoptedNodes()).toEqual([])
    expect(await opened()).toEqual([2])
  })

  it('lets go of streams, so that whoever comes next may have them', async () => {
    const world = await openWorld(open)
    const { metadata, node } = world
    const [a, b] = (await openedStreams(world, 'a', 'b')).map(({ streamId }) => streamId)
    const other = await register(metadata, 2)
    await metadata.streams.release(other, [a ?? 0])
    expect(await metadata.streams.open(other, [a ?? 0])).toEqual([])
    await metadata.streams.release(node, [a ?? 0, 99])
    const [moved] = await metadata.streams.open(other, [a ?? 0, b ?? 0])
    expect(moved).toMatchObject({ streamId: a, owner: other, leaderEpoch: 2 })
    await expect(metadata.streams.trim(node, a ?? 0, 1, 1)).rejects.toThrow(StreamNotOwnedError)
    await metadata.nodes.fence(node)
    await expect(metadata.streams.release(node, [b ?? 0])).rejects.toThrow(FencedError)
  })

  it('leaves out unknown streams, and answers each once in the order asked', async () => {
    const world = await openWorld(open)
    const [a, b] = await openedStreams(world, 'a', 'b')
    const [idA, idB] = [a?.streamId ?? 0, b?.streamId ?? 0]
    const opened = await world.metadata.streams.open(world.node, [idB, 99, idA, idB])
    expect(opened.map((stream) => stream.streamId)).toEqual([idB, idA])
  })

  it('refuses a fenced or unknown node, and changes nothing then', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const streamId = stream?.streamId ?? 0
    const current = await register(world.metadata, 1)
    await expect(world.metadata.streams.open(world.node, [streamId])).rejects.toThrow(FencedError)
    await expect(world.metadata.streams.open({ nodeId: 9, nodeEpoch: 1 }, [streamId])).rejects.toThrow(FencedError)
    const ahead = { nodeId: 1, nodeEpoch: current.nodeEpoch + 1 }
    await expect(world.metadata.streams.open(ahead, [streamId])).rejects.toThrow(FencedError)
    expect((await world.metadata.streams.byStreamId([streamId]))[0]).toMatchObject({
      owner: world.node,
      leaderEpoch: 1,
    })
  })
}
