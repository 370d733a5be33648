import { expect, it } from 'vitest'
import { UploadExpiredError } from '../errors.ts'
import {
  committedWal,
  dataObject,
  doomedKeys,
  extentOf,
  extentsOf,
  type OpenMetadata,
  openedStreams,
  openWorld,
  type World,
  walKey,
} from './world.ts'

export function doomedObjectsConformance(open: OpenMetadata): void {
  const commit = (world: World, streamId: number, nowMs: number) =>
    world.metadata.log.commitPack(
      world.node,
      { objects: [dataObject(1)], extents: [extentOf(streamId, 0, 5, 1)], states: [], walObjects: [], walSegments: [] },
      nowMs,
    )

  it('dooms an announced upload when it is due, unless a commit names it before', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const { log } = world.metadata
    await log.announceUpload('data/1', 100)
    await log.announceUpload('data/2', 200)
    expect(await log.doomed(99, 9)).toEqual([])
    expect(await log.doomed(100, 9)).toEqual([{ key: 'data/1', doomedAtMs: 100 }])
    await commit(world, stream?.streamId ?? 0, 99)
    expect(await doomedKeys(world)).toEqual(['data/2'])
  })

  it('lets an upload be announced again, to another time', async () => {
    const { metadata } = await openWorld(open)
    await metadata.log.announceUpload('data/1', 100)
    await metadata.log.announceUpload('data/1', 300)
    expect(await metadata.log.doomed(299, 9)).toEqual([])
    expect(await metadata.log.doomed(300, 9)).toEqual([{ key: 'data/1', doomedAtMs: 300 }])
  })

  it('refuses a commit of an upload that is due, forgotten or was never announced: its bytes may be gone', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const streamId = stream?.streamId ?? 0
    await expect(commit(world, streamId, 1)).rejects.toMatchObject({
      code: 'PICO_METADATA_UPLOAD_EXPIRED',
      key: 'data/1',
    })
    await world.metadata.log.announceUpload('data/1', 100)
    await expect(commit(world, streamId, 100)).rejects.toThrow(UploadExpiredError)
    await world.metadata.log.forgetDoomed(['data/1'])
    await expect(commit(world, streamId, 50)).rejects.toThrow(UploadExpiredError)
    expect(await extentsOf(world, streamId)).toEqual([])
    expect((await world.metadata.log.totals()).objects).toBe(0)
  })

  it('never calls a committed WAL object doomed, though its key was announced', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const { log } = world.metadata
    await log.announceUpload(walKey(world.node, 1), 10)
    await committedWal(world, 1)
    expect(await doomedKeys(world)).toEqual([])
    await log.announceUpload('data/1', 1000)
    const pack = { objects: [dataObject(1)], extents: [extentOf(stream?.streamId ?? 0, 0, 5, 1)], states: [] }
    await log.commitPack(world.node, { ...pack, walObjects: [{ node: world.node, sequence: 1 }], walSegments: [] }, 500)
    expect(await log.doomed(499, 9)).toEqual([])
    expect(await log.doomed(500, 9)).toEqual([{ key: walKey(world.node, 1), doomedAtMs: 500 }])
  })

  it('lists the oldest first, as many as asked for, until they are forgotten', async () => {
    const { metadata } = await openWorld(open)
    for (const [key, dueAtMs] of [
      ['data/3', 30],
      ['data/1', 10],
      ['data/2', 20],
    ] as const) {
      await metadata.log.announceUpload(key, dueAtMs)
    }
    expect((await metadata.log.doomed(50, 2)).map((object) => object.key)).toEqual(['data/1', 'data/2'])
    await metadata.log.forgetDoomed(['data/1', 'data/2', 'data/9'])
    expect((await metadata.log.doomed(50, 2)).map((object) => object.key)).toEqual(['data/3'])
    await metadata.log.forgetDoomed([])
  })

  it('knows every key that a row of any kind names', async () => {
    const world = await openWorld(open)
    const [stream] = await openedStreams(world, 'a')
    const { log } = world.metadata
    await log.announceUpload('data/1', 100)
    await commit(world, stream?.streamId ?? 0, 1)
    await committedWal(world, 1)
    await log.createWalSegment(world.node, { segmentId: 1, key: 'wal/1/1/s1', sizeBytes: 64 })
    await log.announceUpload('data/2', 100)
    const known = ['data/1', walKey(world.node, 1), 'wal/1/1/s1', 'data/2']
    expect(await log.knownKeys([...known, 'data/3', 'wal/1/1/s2'])).toEqual(new Set(known))
    expect(await log.knownKeys([])).toEqual(new Set())
    expect(await log.totals()).toEqual({ objects: 1, lengthBytes: 1_000_000, doomed: 1 })
  })
}
