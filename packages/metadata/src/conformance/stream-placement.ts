import { expect, it } from 'vitest'
import type { NodeIdentity } from '../node-registry.ts'
import { committedWal, type OpenMetadata, openedStreams, openWorld, topicStream, type World } from './world.ts'

export function streamPlacementConformance(open: OpenMetadata): void {
  const register = (world: World, nodeId: number, slots: number) =>
    world.metadata.nodes.register({ nodeId, addresses: {}, slots }, 1)

  it('gives streams to the node with the fewest for its slots, in the order asked for', async () => {
    const world = await openWorld(open)
    const two = await register(world, 2, 2)
    const ids = await created(world, 'a', 'b', 'c', 'd', 'e', 'f')
    const places = await world.metadata.streams.place([...ids, 999, ids[0] ?? 0], 1)
    expect(places.map(({ streamId }) => streamId)).toEqual(ids)
    expect(ownersOf(places)).toEqual([1, 2, 2, 1, 2, 2])
    expect(places.every(({ leaderEpoch }) => leaderEpoch === 1)).toBe(true)
    expect(await world.metadata.streams.ownedCounts()).toEqual([
      { nodeId: 1, streams: 2 },
      { nodeId: 2, streams: 4 },
    ])
    expect(await world.metadata.streams.ownedBy(two, { afterStreamId: 0, limit: 9 })).toEqual([
      ids[1],
      ids[2],
      ids[4],
      ids[5],
    ])
    expect(await world.metadata.streams.ownedBy(two, { afterStreamId: ids[2] ?? 0, limit: 1 })).toEqual([ids[4]])
  })

  it('leaves streams where they are, and the owner finds itself the owner', async () => {
    const world = await openWorld(open)
    const [own] = (await openedStreams(world, 'own')).map(({ streamId }) => streamId)
    const two = await register(world, 2, 1)
    const [other] = await created(world, 'other')
    const places = await world.metadata.streams.place([own ?? 0, other ?? 0], 1)
    expect(ownersOf(places)).toEqual([1, 2])
    expect(await world.metadata.streams.place([own ?? 0, other ?? 0], 2)).toEqual(places)
    const opened = await world.metadata.streams.open(two, [own ?? 0, other ?? 0])
    expect(opened).toMatchObject([{ streamId: other, owner: two, leaderEpoch: 1 }])
  })

  it('gives streams of a fenced node to others once its WAL is adopted, and says so until then', async () => {
    const world = await openWorld(open)
    const { metadata, node } = world
    const [stream] = (await openedStreams(world, 'a')).map(({ streamId }) => streamId)
    const streamId = stream ?? 0
    await committedWal(world, 1)
    const two = await register(world, 2, 1)
    await metadata.nodes.fence(node)
    expect(await metadata.streams.place([streamId], 1)).toEqual([{ streamId, owner: 'unadopted', leaderEpoch: 1 }])
    const walObjects = [{ node, sequence: 1 }]
    await metadata.log.commitPack(two, { objects: [], extents: [], states: [], walObjects, walSegments: [] }, 1)
    expect(await metadata.streams.place([streamId], 1)).toEqual([{ streamId, owner: two, leaderEpoch: 2 }])
  })

  it('finds no place where no node has a slot', async () => {
    const world = await openWorld(open)
    const [streamId = 0] = await created(world, 'a')
    await world.metadata.nodes.setSlots(1, 0)
    expect(await world.metadata.streams.place([streamId], 1)).toEqual([{ streamId, owner: 'no-node', leaderEpoch: 0 }])
    await world.metadata.nodes.setSlots(1, 1)
    expect(ownersOf(await world.metadata.streams.place([streamId], 1))).toEqual([1])
  })

  it('gives a stream to one node, whoever asks at the same time', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const two = await register(world, 2, 1)
    const ids = await created(world, 'a', 'b', 'c', 'd')
    const [openedByOne, openedByTwo, ...places] = await Promise.all([
      streams.open(world.node, ids),
      streams.open(two, ids),
      ...Array.from({ length: 4 }, () => streams.place(ids, 1)),
    ])
    const found = await streams.byStreamId(ids)
    for (const place of places) expect(place.map(({ owner }) => owner)).toEqual(found.map(({ owner }) => owner))
    for (const [node, opened] of [
      [world.node, openedByOne],
      [two, openedByTwo],
    ] as const) {
      const owned = found.filter(({ owner }) => owner?.nodeId === node.nodeId).map(({ streamId }) => streamId)
      expect(owned).toEqual(expect.arrayContaining(opened.map(({ streamId }) => streamId)))
    }
    expect(found.map(({ leaderEpoch }) => leaderEpoch)).toEqual([1, 1, 1, 1])
  })
}

async function created(world: World, ...topics: string[]): Promise<number[]> {
  const records = await world.metadata.streams.create(
    topics.map((topic) => topicStream(topic)),
    1,
  )
  return records.map(({ streamId }) => streamId)
}

function ownersOf(places: readonly { readonly owner: NodeIdentity | string }[]): (number | string)[] {
  return places.map(({ owner }) => (typeof owner === 'string' ? owner : owner.nodeId))
}
