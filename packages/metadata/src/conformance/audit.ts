import { expect, it } from 'vitest'
import type { Metadata } from '../metadata.ts'
import {
  committedWal,
  dataObject,
  extentOf,
  httpStream,
  type OpenMetadata,
  openedStreams,
  openWorld,
  packed,
  walKey,
} from './world.ts'

export function auditConformance(open: OpenMetadata): void {
  it('lists every object key that a row names, and why', async () => {
    const world = await openWorld(open)
    const { node } = world
    const { audit, log } = world.metadata
    const [a, b] = (await openedStreams(world, 'a', 'b')).map((stream) => stream.streamId)
    await committedWal(world, 1, 2)
    await log.createWalSegment(node, { segmentId: 5, key: 'wal/segment', sizeBytes: 4096 })
    await log.closeWalSegment(node, 5, 1024)
    await log.announceUpload('data/9', 7777)
    await packed(world, [extentOf(a ?? 0, 0, 5, 1), extentOf(b ?? 0, 0, 3, 1, { position: 100 })], {
      walObjects: [{ node, sequence: 1 }],
    })
    const data = {
      objectId: 1,
      lengthBytes: 1_000_000,
      counted: { extents: 2, bytes: 80 },
      ...{ extents: 2, liveBytes: 80, usedBytes: 130 },
    }
    const none = { data: null, wal: null, doomedAtMs: null }
    const expected = [
      { ...none, key: 'data/1', data },
      { ...none, key: 'data/9', doomedAtMs: 7777 },
      { ...none, key: walKey(node, 1), doomedAtMs: 2000 },
      { ...none, key: walKey(node, 2), wal: { kind: 'object', node, sequence: 2, lengthBytes: 1_000_000 } },
      {
        ...none,
        key: 'wal/segment',
        wal: { kind: 'segment', node, segmentId: 5, sizeBytes: 4096, committedBytes: 1024 },
      },
    ]
    expect(await audit.objects({ after: '', limit: 100 })).toEqual(expected)
    const pages: string[] = []
    for (let after = ''; ; after = pages.at(-1) ?? '') {
      const [next, ...rest] = await audit.objects({ after, limit: 1 })
      expect(rest).toEqual([])
      if (next === undefined) break
      pages.push(next.key)
    }
    expect(pages).toEqual(expected.map(({ key }) => key))
    expect(await audit.objectsByKey(['wal/segment', 'unknown', 'data/1', 'data/1'])).toEqual([expected[0], expected[4]])
  })

  it('tells of an object that is in the WAL and that extents point into', async () => {
    const world = await openWorld(open)
    const [a] = (await openedStreams(world, 'a')).map((stream) => stream.streamId)
    await committedWal(world, 1)
    const key = walKey(world.node, 1)
    const objects = [{ ...dataObject(1), key }]
    await packed(world, [extentOf(a ?? 0, 0, 5, 1, { crc32c: 7 })], { objects })
    expect(await world.metadata.audit.objectsByKey([key])).toMatchObject([
      { data: { extents: 1 }, wal: { sequence: 1 }, doomedAtMs: null },
    ])
  })

  it('tells of every stream what its extents come to, a page at a time', async () => {
    const world = await openWorld(open)
    const { audit, streams } = world.metadata
    const [a, b] = (await openedStreams(world, 'a', 'b')).map((stream) => stream.streamId)
    await packed(world, [extentOf(a ?? 0, 0, 5, 1), extentOf(a ?? 0, 5, 9, 1)])
    await streams.trim(world.node, a ?? 0, 6, 1)
    const [page] = await audit.streams({ afterStreamId: 0, limit: 1 })
    expect(page).toEqual({
      streamId: a,
      name: '/a',
      life: 'live',
      startOffset: 6,
      packedOffset: 9,
      packedBytes: 40,
      extents: 1,
      extentBytes: 40,
      baseOffset: 5,
      endOffset: 9,
      firstGap: null,
      firstMalformed: null,
      firstWithoutObject: null,
      firstOutside: null,
      leaderEpochs: 1,
      states: 0,
    })
    expect(await audit.streams({ afterStreamId: a ?? 0, limit: 5 })).toMatchObject([
      { streamId: b, extents: 0, extentBytes: 0, baseOffset: null, endOffset: null, packedOffset: 0 },
    ])
    expect(await audit.streams({ afterStreamId: b ?? 0, limit: 5 })).toEqual([])
  })

  it('tells of a stream that is gone but for its forks', async () => {
    const world = await openWorld(open)
    const { audit, streams } = world.metadata
    const [a] = (await openedStreams(world, 'a')).map((stream) => stream.streamId)
    await packed(world, [extentOf(a ?? 0, 0, 5, 1)])
    const fork = { sourceStreamId: a ?? 0, offset: 5, subOffset: 0, sharedEnd: 5, cut: null }
    await streams.fork({ ...fork, stream: httpStream('/fork') }, 1)
    await streams.delete([a ?? 0], 1)
    expect(await audit.streams({ afterStreamId: 0, limit: 5 })).toMatchObject([
      { streamId: a, life: 'gone', extents: 0, leaderEpochs: 0, states: 0 },
      { name: '/fork', life: 'live', extents: 1, endOffset: 5 },
    ])
    await expectSound(world.metadata)
  })
}

/** What holds of every database of ours at every moment. */
export async function expectSound({ audit }: Metadata): Promise<void> {
  for (const { key, data, wal, doomedAtMs } of await audit.objects({ after: '', limit: 10_000 })) {
    expect(data === null && wal === null && doomedAtMs === null, `${key} is named by no row`).toBe(false)
    if (data === null) continue
    expect({ extents: data.extents, bytes: data.liveBytes }, key).toEqual(data.counted)
    expect(data.extents, key).toBeGreaterThan(0)
    expect(data.usedBytes, key).toBeLessThanOrEqual(data.lengthBytes)
  }
  for (const stream of await audit.streams({ afterStreamId: 0, limit: 10_000 })) {
    const { firstGap, firstMalformed, firstWithoutObject, firstOutside } = stream
    expect([firstGap, firstMalformed, firstWithoutObject, firstOutside]).toEqual([null, null, null, null])
    expect(stream.extentBytes).toBe(stream.packedBytes)
  }
  expect(await audit.leftovers(10)).toEqual([])
}
