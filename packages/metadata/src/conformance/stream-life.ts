import { expect, it } from 'vitest'
import { FencedError, StreamExistsError, StreamNotOwnedError } from '../errors.ts'
import type { StreamRecord } from '../stream-catalog.ts'
import { httpStream, type OpenMetadata, openedStreams, openWorld, topicStream, type World } from './world.ts'

/** From being created to being closed, or to an end that was set. */
export function streamLifeConformance(open: OpenMetadata): void {
  it('keeps a stream that is being created apart until it is revealed', async () => {
    const { metadata, node } = await openWorld(open)
    const { streams } = metadata
    const [first, second] = await streams.create(
      [
        { ...httpStream('/a'), life: 'creating' },
        { ...httpStream('/b'), life: 'creating' },
      ],
      1,
    )
    const [a, b] = [first?.streamId ?? 0, second?.streamId ?? 0]
    expect(first).toMatchObject({ life: 'creating', isClosed: false })
    const reveal = async (streamId: number, isClosed: boolean) => [
      ...(await streams.reveal(node, [{ streamId, isClosed }])),
    ]
    const creating = async (afterStreamId: number, limit: number) =>
      (await streams.creating({ afterStreamId, limit })).map(({ name }) => name)
    expect(await creating(0, 9)).toEqual(['/a', '/b'])
    expect(await creating(0, 1)).toEqual(['/a'])
    expect(await creating(a, 9)).toEqual(['/b'])
    expect(await streams.count()).toBe(0)
    await expect(reveal(a, true)).rejects.toThrow(StreamNotOwnedError)
    await streams.open(node, [a])
    expect(await reveal(a, true)).toEqual([a])
    expect(await streams.byStreamId([a, b])).toMatchObject([
      { life: 'live', isClosed: true },
      { life: 'creating', isClosed: false },
    ])
    expect(await reveal(a, false)).toEqual([])
    expect((await streams.byStreamId([a]))[0]?.isClosed).toBe(true)
    expect(await streams.delete([b], 1)).toEqual([b])
    expect(await reveal(b, false)).toEqual([])
    expect(await creating(0, 9)).toEqual([])
  })

  it('reveals many at once, some of them closed', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const rows = Array.from({ length: 300 }, (_, index) => ({ ...httpStream(`/${index}`), life: 'creating' as const }))
    const ids = (await streams.create(rows, 1)).map(({ streamId }) => streamId)
    await streams.open(world.node, ids)
    await streams.delete(ids.slice(0, 1), 1)
    world.statements.length = 0
    const wanted = ids.map((streamId, index) => ({ streamId, isClosed: index % 2 === 0 }))
    expect([...(await streams.reveal(world.node, wanted))].sort((a, b) => a - b)).toEqual(ids.slice(1))
    expect(world.statements.length).toBeLessThanOrEqual(10)
    const found = await streams.byStreamId(ids)
    expect(found.every(({ life }) => life === 'live')).toBe(true)
    expect(found.filter(({ isClosed }) => isClosed)).toHaveLength(149)
  })

  it('closes for good, and keeps who did it first', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const streamId = a?.streamId ?? 0
    expect(await streams.close(world.node, streamId, '{"id":"p"}')).toBe(true)
    expect(await streams.close(world.node, streamId, null)).toBe(true)
    expect((await streams.byStreamId([streamId]))[0]).toMatchObject({ isClosed: true, closedBy: '{"id":"p"}' })
    expect((await streams.open(world.node, [streamId]))[0]).toMatchObject({ isClosed: true, closedBy: '{"id":"p"}' })
    await streams.delete([streamId], 1)
    expect(await streams.close(world.node, streamId, null)).toBe(false)
  })

  it('lets nobody but the owner close', async () => {
    const world = await openWorld(open)
    const { nodes, streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const streamId = a?.streamId ?? 0
    const other = await nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
    await expect(streams.close(other, streamId, null)).rejects.toThrow(StreamNotOwnedError)
    const second = await nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    await expect(streams.close(world.node, streamId, null)).rejects.toThrow(FencedError)
    await expect(streams.close(second, streamId, null)).rejects.toThrow(StreamNotOwnedError)
    expect((await streams.byStreamId([streamId]))[0]?.isClosed).toBe(false)
  })

  it('finds streams whose end has come, longest ago first', async () => {
    const { metadata } = await openWorld(open)
    const { streams } = metadata
    const ending = (name: string, expiresAtMs: number | null) => ({ ...httpStream(name), expiresAtMs })
    await streams.create(
      [
        ending('/late', 300),
        ending('/soon', 100),
        { ...ending('/hidden', 100), life: 'creating' },
        ending('/next', 200),
        ending('/never', null),
      ],
      1,
    )
    const expired = async (nowMs: number, limit = 9) => (await streams.expired(nowMs, limit)).map(({ name }) => name)
    expect(await expired(99)).toEqual([])
    expect(await expired(100)).toEqual(['/soon'])
    expect(await expired(1000)).toEqual(['/soon', '/next', '/late'])
    expect(await expired(1000, 2)).toEqual(['/soon', '/next'])
  })

  it('puts ends off, and never brings them forward', async () => {
    const { metadata } = await openWorld(open)
    const { streams } = metadata
    const records = await streams.create(
      [
        { ...httpStream('/a'), expiresAtMs: 100, idleTtlMs: 90 },
        { ...httpStream('/b'), expiresAtMs: 100, idleTtlMs: 90 },
        httpStream('/never'),
      ],
      1,
    )
    const [a, b, never] = records.map(({ streamId }) => streamId) as [number, number, number]
    await streams.renew([
      { streamId: a, expiresAtMs: 150 },
      { streamId: b, expiresAtMs: 50 },
      { streamId: never, expiresAtMs: 70 },
      { streamId: 1_000_000, expiresAtMs: 70 },
    ])
    await streams.renew([])
    const rows = await streams.byStreamId([a, b, never])
    expect(rows.map(({ expiresAtMs }) => expiresAtMs)).toEqual([150, 100, null])
    expect(rows.map(({ idleTtlMs }) => idleTtlMs)).toEqual([90, 90, null])
  })

  it('renews a thousand streams in a few statements', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const records = await streams.create(
      Array.from({ length: 1000 }, (_, index) => ({ ...httpStream(`/${index}`), expiresAtMs: 100, idleTtlMs: 90 })),
      1,
    )
    world.statements.length = 0
    await streams.renew(records.map(({ streamId }) => ({ streamId, expiresAtMs: 200 })))
    expect(world.statements.length).toBeLessThanOrEqual(20)
    expect(await streams.expired(199, 9)).toEqual([])
  })

  it('looks for ends, and for what was left half made, with a statement each', async () => {
    const world = await openWorld(open)
    await world.metadata.streams.create([{ ...httpStream('/a'), expiresAtMs: 5 }], 1)
    world.statements.length = 0
    await world.metadata.streams.expired(1, 10)
    await world.metadata.streams.creating({ afterStreamId: 0, limit: 10 })
    expect(world.statements).toHaveLength(2)
  })

  it('refuses a fork whose name is taken, of nothing, or of what is gone', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const forkOf = (sourceStreamId: number, name: string) =>
      streams.fork({ stream: httpStream(name), sourceStreamId, offset: 0, subOffset: 0, sharedEnd: 0, cut: null }, 7)
    await expect(forkOf(a?.streamId ?? 0, '/a')).rejects.toThrow(StreamExistsError)
    expect(await forkOf(1_000_000, '/b')).toBe('source-missing')
    const fork = await forkOf(a?.streamId ?? 0, '/b')
    expect(fork).toMatchObject({ createdAtMs: 7, life: 'live', owner: null, fork: { sourceName: '/a' } })
    await streams.delete([a?.streamId ?? 0], 8)
    expect(await forkOf(a?.streamId ?? 0, '/c')).toBe('source-gone')
    expect(await lives(world, ['/a', '/b', '/c'])).toEqual(['gone', 'live'])
  })

  it('keeps the name of what has forks, without its topic, until the last of them goes', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const fork = async (source: StreamRecord | undefined, name: string) => {
      const sourceStreamId = source?.streamId ?? 0
      const made = await streams.fork(
        { stream: httpStream(name), sourceStreamId, offset: 0, subOffset: 0, sharedEnd: 0, cut: null },
        1,
      )
      if (typeof made === 'string') throw new Error(made)
      return made
    }
    const b = await fork(a, '/b')
    const c = await fork(b, '/c')
    const remove = (...records: (StreamRecord | undefined)[]) =>
      streams.delete(
        records.map((record) => record?.streamId ?? 0),
        1,
      )
    expect(await remove(a)).toEqual([a?.streamId])
    expect(await remove(a)).toEqual([])
    expect(await streams.byTopic(['a'])).toEqual([])
    await expect(streams.create([topicStream('a')], 1)).rejects.toThrow(StreamExistsError)
    expect(await streams.open(world.node, [a?.streamId ?? 0])).toEqual([])
    await remove(b)
    expect(await lives(world, ['/a', '/b', '/c'])).toEqual(['gone', 'gone', 'live'])
    await remove(c)
    expect(await lives(world, ['/a', '/b', '/c'])).toEqual([])
    await openedStreams(world, 'a')
  })

  it('deletes a stream together with its forks', async () => {
    const world = await openWorld(open)
    const { streams } = world.metadata
    const [a] = await openedStreams(world, 'a')
    const sourceStreamId = a?.streamId ?? 0
    const ids = [sourceStreamId]
    for (const name of ['/b', '/c']) {
      const fork = { stream: httpStream(name), sourceStreamId, offset: 0, subOffset: 0, sharedEnd: 0, cut: null }
      const made = await streams.fork(fork, 1)
      if (typeof made !== 'string') ids.push(made.streamId)
    }
    expect(await streams.delete(ids, 1)).toEqual(ids)
    expect(await streams.byStreamId(ids)).toEqual([])
  })
}

async function lives(world: World, names: readonly string[]): Promise<string[]> {
  return (await world.metadata.streams.byName(names)).map(({ life }) => life)
}
