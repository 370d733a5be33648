import { expect, it } from 'vitest'
import type { NodeIdentity } from '../node-registry.ts'
import { extentOf, type OpenMetadata, openWorld, packed, topicStream, type World } from './world.ts'

/** Each stream has extents of 100 bytes ending at 10, 20 and 30, whose youngest records are of 1010, 1020 and 1030 ms. */
export function retentionConformance(open: OpenMetadata): void {
  it('trims by age: whole extents, oldest first, as long as their youngest record is too old', async () => {
    const world = await openWorld(open)
    await withConfigs(world, { 'retention.ms': '100' })
    expect(await due(world, 1110)).toEqual([])
    expect(await due(world, 1111)).toEqual(['t0 to 10'])
    expect(await due(world, 1120)).toEqual(['t0 to 10'])
    expect(await due(world, 1125)).toEqual(['t0 to 20'])
    expect(await due(world, 9999)).toEqual(['t0 to 30'])
  })

  it('trims by size: while what stays is at least the limit, as Kafka does', async () => {
    const world = await openWorld(open)
    await withConfigs(world, ...['301', '300', '201', '200', '0'].map((bytes) => ({ 'retention.bytes': bytes })))
    expect(await due(world, 1)).toEqual(['t3 to 10', 't4 to 30'])
  })

  it('trims by whichever limit reaches further', async () => {
    const world = await openWorld(open)
    await withConfigs(world, { 'retention.ms': '100', 'retention.bytes': '100' })
    expect(await due(world, 1)).toEqual(['t0 to 20'])
    expect(await due(world, 9999)).toEqual(['t0 to 30'])
  })

  it('never trims without a limit, nor by an unlimited one', async () => {
    const world = await openWorld(open)
    const forEver = '9223372036854775807'
    await withConfigs(
      world,
      {},
      { 'retention.ms': '-1', 'retention.bytes': '-1' },
      { 'retention.ms': forEver, 'retention.bytes': forEver },
    )
    expect(await due(world, 8e12)).toEqual([])
  })

  it('never trims a topic that is only compacted', async () => {
    const world = await openWorld(open)
    const limits = { 'retention.ms': '100', 'retention.bytes': '0' }
    await withConfigs(
      world,
      ...['compact', 'compact,delete', 'delete', 'delete, compact'].map((policy) => ({
        ...limits,
        'cleanup.policy': policy,
      })),
    )
    expect(await due(world, 9999)).toEqual(['t1 to 30', 't2 to 30', 't3 to 30'])
  })

  it('goes by the settings as they are now', async () => {
    const world = await openWorld(open)
    const [streamId] = await withConfigs(world, {})
    await world.metadata.streams.setConfig(streamId ?? 0, { 'retention.ms': '100' })
    expect(await due(world, 9999)).toEqual(['t0 to 30'])
    await world.metadata.streams.setConfig(streamId ?? 0, { 'retention.ms': '100', 'cleanup.policy': 'compact' })
    expect(await due(world, 9999)).toEqual([])
  })

  it('refuses settings that are no limit', async () => {
    const world = await openWorld(open)
    for (const bad of ['', 'soon', '1.5', '-2', '1e3']) {
      await expect(withConfigs(world, { 'retention.ms': bad })).rejects.toThrow('retention.ms')
    }
  })

  it('is not due again for what has been trimmed', async () => {
    const world = await openWorld(open)
    const [streamId] = await withConfigs(world, { 'retention.ms': '100', 'retention.bytes': '100' })
    await world.metadata.streams.trim(world.node, streamId ?? 0, 20, 1)
    expect(await due(world, 1)).toEqual([])
    expect(await due(world, 9999)).toEqual(['t0 to 30'])
    await world.metadata.streams.trim(world.node, streamId ?? 0, 30, 1)
    expect(await due(world, 9999)).toEqual([])
  })

  it('counts from the commit where records have no timestamp, also after a compaction', async () => {
    const world = await openWorld(open)
    const { metadata, node } = world
    const [stream] = await metadata.streams.create([topicStream('a', 0, { 'retention.ms': '100' })], 1)
    const streamId = stream?.streamId ?? 0
    await packed(world, [extentOf(streamId, 0, 10, 1, { maxTimestampMs: -1 })], {}, 5000)
    expect(await due(world, 5100)).toEqual([])
    expect(await due(world, 5101)).toEqual(['a to 10'])
    await metadata.log.announceUpload('data/2', 8e12)
    const extent = extentOf(streamId, 0, 10, 2, { maxTimestampMs: -1 })
    const extents = [{ ...extent, cuts: [{ baseOffset: 0, position: 0 }] }]
    const object = { objectId: 2, key: 'data/2', lengthBytes: 1000 }
    await metadata.log.commitCompaction(node, { object, replaced: [1], extents }, 6000)
    expect(await due(world, 5100)).toEqual([])
    expect(await due(world, 5101)).toEqual(['a to 10'])
  })

  it('finds who is due behind those that were trimmed and are not any more', async () => {
    const world = await openWorld(open)
    const [first] = await withConfigs(world, { 'retention.bytes': '200' }, { 'retention.bytes': '200' })
    await world.metadata.streams.trim(world.node, first ?? 0, 10, 1)
    expect(await due(world, 1, 1)).toEqual(['t1 to 10'])
  })

  it('is for the owner of a stream, and of those that no live node owns for whoever asks for them', async () => {
    const world = await openWorld(open)
    const { streams, nodes } = world.metadata
    const limits = { 'retention.ms': '1' }
    const [own, released, orphaned] = await withConfigs(world, limits, limits, limits)
    const other = await nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
    const dueFor = async (node: NodeIdentity, unowned: boolean) =>
      (await streams.retentionDue({ node, unowned }, 9999, 9)).map(({ streamId }) => streamId)
    await streams.release(world.node, [released ?? 0, orphaned ?? 0])
    await streams.open(other, [orphaned ?? 0])
    expect(await dueFor(world.node, false)).toEqual([own])
    expect(await dueFor(world.node, true)).toEqual([own, released])
    expect(await dueFor(other, false)).toEqual([orphaned])
    await nodes.fence(other)
    expect(await dueFor(world.node, true)).toEqual([own, released, orphaned])
  })

  it('answers as many as asked for', async () => {
    const world = await openWorld(open)
    await withConfigs(world, ...Array.from({ length: 5 }, () => ({ 'retention.ms': '1', 'retention.bytes': '0' })))
    expect(await due(world, 9999, 2)).toEqual(['t0 to 30', 't1 to 30'])
    expect(await due(world, 9999, 9)).toHaveLength(5)
  })
}

async function withConfigs(world: World, ...configs: Record<string, string>[]): Promise<number[]> {
  const streams = await world.metadata.streams.create(
    configs.map((config, index) => topicStream(`t${index}`, 0, config)),
    1,
  )
  const extents = streams.flatMap(({ streamId }) =>
    [0, 10, 20].map((baseOffset) => extentOf(streamId, baseOffset, baseOffset + 10, 1)),
  )
  await packed(world, extents)
  const streamIds = streams.map((stream) => stream.streamId)
  await world.metadata.streams.open(world.node, streamIds)
  return streamIds
}

async function due(world: World, nowMs: number, limit = 100): Promise<string[]> {
  const found = await world.metadata.streams.retentionDue({ node: world.node, unowned: true }, nowMs, limit)
  const streams = await world.metadata.streams.byStreamId(found.map((stream) => stream.streamId))
  return found.map(({ trimTo }, index) => `${streams[index]?.topic} to ${trimTo}`)
}
