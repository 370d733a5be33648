import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import type { ChangeKind } from '../changes.ts'
import { httpStream, type OpenMetadata, openedStreams, openWorld, topicStream, type World } from './world.ts'

export function changesConformance(open: OpenMetadata): void {
  it('tells of topics that were configured, got partitions or were deleted, and of nothing twice', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const [a, b, path] = await streams.create([topicStream('a'), topicStream('b'), httpStream('/path')], 1)
    const changed = await follow(world)
    expect(await changed()).toEqual([])

    await streams.setTopicConfig(a?.topicId ?? '', { from: {}, to: { 'retention.ms': '5' } })
    expect(await changed()).toEqual([a?.topicId])
    await streams.create([topicStream('a', 1), topicStream('a', 2), topicStream('new')], 1)
    expect(await changed()).toEqual([a?.topicId])
    await streams.setConfig(path?.streamId ?? 0, { 'retention.ms': '5' })
    expect(await changed()).toEqual([path?.topicId])
    await streams.delete(
      [b, path].flatMap((stream) => stream?.streamId ?? []),
      1,
    )
    await streams.setTopicConfig(a?.topicId ?? '', { from: { 'retention.ms': '5' }, to: {} })
    expect(await changed()).toEqual([a?.topicId, b?.topicId, path?.topicId].sort())
    expect(await changed()).toEqual([])
  })

  it('tells nothing of what changed nothing that others keep', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const [own] = await streams.create([httpStream('/_sys/groups/g')], 1)
    const changed = await follow(world)
    const [a] = await openedStreams(world, 'a')
    await streams.setConfig(own?.streamId ?? 0, { label: 'x' })
    await streams.setConfig(99, {})
    await streams.setTopicConfig(a?.topicId ?? '', { from: { other: 'x' }, to: {} })
    await streams.delete([99], 1)
    await expect(streams.create([topicStream('a', 1), topicStream('a')], 1)).rejects.toThrow('/a')
    expect(await changed()).toEqual([])
  })

  it('tells of a topic once that changed often', async () => {
    const world = await openWorld(open)
    const [a] = await openedStreams(world, 'a')
    const { cursor } = await world.metadata.changes.since(null)
    const settings = ['1', '2', '3'].map((value) => ({ 'retention.ms': value }))
    for (const config of settings) await world.metadata.streams.setConfig(a?.streamId ?? 0, config)
    const told = await world.metadata.changes.since(cursor)
    expect(told.topicIds).toEqual([a?.topicId])
    expect(await world.metadata.changes.since(told.cursor)).toEqual({ cursor: expect.any(String), topicIds: [] })
  })

  it('costs one statement to ask', async () => {
    const world = await openWorld(open)
    const { cursor } = await world.metadata.changes.since(null)
    world.statements.length = 0
    await world.metadata.changes.since(cursor)
    expect(world.statements).toHaveLength(1)
  })

  it('says when it has forgotten what came after a cursor, and only then', async () => {
    const world = await openWorld(open)
    const { changes, streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const streamId = a?.streamId ?? 0
    const before = await changes.since(null)
    await streams.setConfig(streamId, { 'retention.ms': '1' })
    const between = await changes.since(before.cursor)
    expect(await changes.forget(60_000)).toBe(0)
    expect(await changes.since(before.cursor)).toMatchObject({ topicIds: [a?.topicId] })
    // By the database's clock, and what is of this very moment is not older than it.
    await vi.waitFor(async () => expect(await changes.forget(0)).toBe(1))
    expect(await changes.since(before.cursor)).toMatchObject({ topicIds: 'too-old' })
    expect(await changes.since(between.cursor)).toMatchObject({ topicIds: [] })
    await streams.setConfig(streamId, { 'retention.ms': '2' })
    expect(await changes.since(between.cursor)).toMatchObject({ topicIds: [a?.topicId] })
    expect(await changes.since(before.cursor)).toMatchObject({ topicIds: 'too-old' })
    await vi.waitFor(async () => expect(await changes.forget(0)).toBe(1))
    expect(await changes.since(between.cursor)).toMatchObject({ topicIds: 'too-old' })
    expect(await changes.since(null)).toMatchObject({ topicIds: [] })
  })

  it('does not list what is too much to be listed', async () => {
    const world = await openWorld(open)
    const { changes, streams } = world.metadata
    const topics = Array.from({ length: 10_001 }, (_, index) => httpStream(`/${index}`))
    const streamIds = (await streams.create(topics, 1)).map((stream) => stream.streamId)
    const { cursor } = await changes.since(null)
    await streams.delete(streamIds.slice(1), 1)
    expect((await changes.since(cursor)).topicIds).toHaveLength(10_000)
    await streams.delete(streamIds.slice(0, 1), 1)
    expect((await changes.since(cursor)).topicIds).toBe('too-old')
  })

  it('calls those who watch back, by kind, until they end it', async () => {
    const world = await openWorld(open)
    const { nodes, streams, transfers } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const { heard, end } = await watching(world)
    const { heard: other, end: endOther } = await watching(world)
    const isHeard = async (kind: ChangeKind, change: () => Promise<unknown>) => {
      await quiet(heard)
      await change()
      await vi.waitFor(() => expect(heard).toContain(kind), 5_000)
      expect(new Set(heard)).toEqual(new Set([kind]))
    }
    await isHeard('nodes', () => nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1))
    await isHeard('transfers', () => transfers.request(a?.streamId ?? 0, 2, 1))
    await isHeard('topics', () => streams.setConfig(a?.streamId ?? 0, { 'retention.ms': '1' }))
    await isHeard('nodes', () => nodes.setSlots(2, 5))
    await isHeard('nodes', () => nodes.fence({ nodeId: 2, nodeEpoch: 1 }))
    await isHeard('nodes', () => nodes.fenceSilent(-60_000))

    end()
    await quiet(heard)
    await quiet(other)
    await streams.delete([a?.streamId ?? 0], 1)
    await vi.waitFor(() => expect(other).toEqual(['topics']), 5_000)
    expect(heard).toEqual([])
    endOther()
  })

  it('calls nobody back for what was refused or changed nothing, nor for heartbeats and flushes', async () => {
    const world = await openWorld(open)
    const { nodes, log, transfers, streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const { heard, end } = await watching(world)
    await nodes.heartbeat(world.node)
    await nodes.fenceSilent(60_000)
    await nodes.setSlots(9, 1)
    await nodes.fence({ nodeId: 9, nodeEpoch: 1 })
    await transfers.request(a?.streamId ?? 0, 1, 1)
    await expect(streams.create([topicStream('a', 1), topicStream('a')], 1)).rejects.toThrow('/a')
    await log.commitWalObjects(world.node, [{ sequence: 1, key: 'wal/1', lengthBytes: 1, index: new Uint8Array(1) }])
    await sleep(100)
    expect(heard).toEqual([])
    end()
  })
}

/** Asks on and on: each call returns what changed since the one before, sorted. */
async function follow({ metadata: { changes } }: World): Promise<() => Promise<readonly string[] | 'too-old'>> {
  let { cursor } = await changes.since(null)
  return async () => {
    const told = await changes.since(cursor)
    cursor = told.cursor
    return told.topicIds === 'too-old' ? told.topicIds : [...told.topicIds].sort()
  }
}

/** What is heard from when watching has begun: a change is made until the first one is heard. */
async function watching({ metadata: { changes, nodes } }: World): Promise<{ heard: ChangeKind[]; end(): void }> {
  const heard: ChangeKind[] = []
  const end = changes.watch((kind) => heard.push(kind))
  while (heard.length === 0) {
    await nodes.setSlots(1, 1)
    await sleep(20)
  }
  await quiet(heard)
  return { heard, end }
}

/** Forgets what is heard until nothing more is: who begins to watch may be called for every kind. */
async function quiet(heard: ChangeKind[]): Promise<void> {
  do {
    heard.length = 0
    await sleep(60)
  } while (heard.length > 0)
}
