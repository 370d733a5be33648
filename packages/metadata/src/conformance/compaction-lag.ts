import { expect, it } from 'vitest'
import { StreamNotOwnedError } from '../errors.ts'
import {
  dataObject,
  extentOf,
  farMs,
  httpStream,
  type OpenMetadata,
  openWorld,
  packed,
  topicStream,
  type World,
} from './world.ts'

const lag = { 'cleanup.policy': 'compact', 'max.compaction.lag.ms': '100' }

/** Extents of ten offsets, whose youngest records are of 1010, 1020, … ms. */
export function compactionLagConformance(open: OpenMetadata): void {
  it('is due when the oldest of what was packed is older than the limit', async () => {
    const { world } = await limited(open, lag)
    expect(await due(world, 1110)).toEqual([])
    expect(await due(world, 1111)).toEqual(['t0'])
  })

  it('is never due without a limit, nor by an unlimited one, nor for topics that are not compacted', async () => {
    const { world } = await limited(
      open,
      { 'cleanup.policy': 'compact' },
      { ...lag, 'max.compaction.lag.ms': '9223372036854775807' },
      { ...lag, 'cleanup.policy': 'delete' },
      { ...lag, 'cleanup.policy': 'delete, compact' },
    )
    expect(await due(world, 8e12)).toEqual(['t3'])
  })

  it('is due anew by what was packed since a compaction', async () => {
    const { world, streamIds } = await limited(open, lag)
    const [streamId = 0] = streamIds
    await pack(world, streamId, 10)
    expect(await world.metadata.streams.recordCompacted(world.node, streamId, 10)).toBe(true)
    expect(await due(world, 1120)).toEqual([])
    expect(await due(world, 1121)).toEqual(['t0'])
    await world.metadata.streams.recordCompacted(world.node, streamId, 20)
    expect(await due(world, 8e12)).toEqual([])
    await pack(world, streamId, 20)
    await pack(world, streamId, 30)
    expect(await due(world, 1131)).toEqual(['t0'])
  })

  it('stays due through merges, by the oldest of what was merged', async () => {
    const { world, streamIds } = await limited(open, lag)
    const [streamId = 0] = streamIds
    await pack(world, streamId, 10)
    await world.metadata.log.announceUpload('data/9', farMs)
    const cuts = [0, 10].map((baseOffset) => ({ baseOffset, position: baseOffset * 10 }))
    const extents = [{ ...extentOf(streamId, 0, 20, 9), cuts }]
    await world.metadata.log.commitCompaction(world.node, { object: dataObject(9), replaced: [1, 2], extents }, 1)
    expect(await due(world, 1111)).toEqual(['t0'])
  })

  it('goes by the settings as they are now', async () => {
    const { world, streamIds } = await limited(open, {})
    await world.metadata.streams.setConfig(streamIds[0] ?? 0, lag)
    expect(await due(world, 1111)).toEqual(['t0'])
    await world.metadata.streams.setConfig(streamIds[0] ?? 0, { 'cleanup.policy': 'compact' })
    expect(await due(world, 8e12)).toEqual([])
  })

  it('counts from the commit where records have no timestamp', async () => {
    const world = await openWorld(open)
    const [stream] = await world.metadata.streams.create([topicStream('t0', 0, lag)], 1)
    await packed(world, [extentOf(stream?.streamId ?? 0, 0, 10, 1, { maxTimestampMs: -1 })], {}, 5000)
    expect(await due(world, 5100)).toEqual([])
    expect(await due(world, 5101)).toEqual(['t0'])
  })

  it('takes over what a fork shares, answers as many as asked for, and none that are gone', async () => {
    const { world, streamIds } = await limited(open, lag, lag)
    const [first = 0, second = 0] = streamIds
    const stream = { ...httpStream('/fork'), config: lag }
    const fork = { stream, sourceStreamId: first, offset: 10, subOffset: 0, sharedEnd: 10, cut: null }
    await world.metadata.streams.fork(fork, 1)
    expect(await due(world, 1111)).toEqual(['t0', 't1', null])
    expect(await due(world, 1111, 1)).toEqual(['t0'])
    await world.metadata.streams.delete([first, second], 1)
    expect(await due(world, 8e12)).toEqual([null])
    expect(await world.metadata.streams.recordCompacted(world.node, second, 10)).toBe(false)
  })

  it('is recorded by the owner only', async () => {
    const { world, streamIds } = await limited(open, lag)
    const other = await world.metadata.nodes.register({ nodeId: 77, addresses: {}, slots: 1 }, 1)
    await world.metadata.streams.release(world.node, streamIds)
    await world.metadata.streams.open(other, streamIds)
    const recorded = world.metadata.streams.recordCompacted(world.node, streamIds[0] ?? 0, 10)
    await expect(recorded).rejects.toThrow(StreamNotOwnedError)
    expect(await due(world, 8e12)).toEqual([])
    expect(await due({ ...world, node: other }, 8e12)).toEqual(['t0'])
  })
}

async function limited(open: OpenMetadata, ...configs: Record<string, string>[]) {
  const world = await openWorld(open)
  const streams = await world.metadata.streams.create(
    configs.map((config, index) => topicStream(`t${index}`, 0, config)),
    1,
  )
  const streamIds = streams.map(({ streamId }) => streamId)
  await world.metadata.streams.open(world.node, streamIds)
  await packed(
    world,
    streamIds.map((streamId) => extentOf(streamId, 0, 10, 1)),
  )
  return { world, streamIds }
}

/** Ten more offsets, in an object of their own. */
async function pack(world: World, streamId: number, from: number): Promise<void> {
  await packed(world, [extentOf(streamId, from, from + 10, from / 10 + 1)])
}

async function due(world: World, nowMs: number, limit = 100): Promise<(string | null)[]> {
  return (await world.metadata.streams.compactionDue({ node: world.node, unowned: true }, nowMs, limit)).map(
    ({ topic }) => topic,
  )
}
