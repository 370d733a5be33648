import { expect, it } from 'vitest'
import { MetadataUnavailableError } from '../errors.ts'
import { extentOf, type OpenMetadata, openWorld, topicStream } from './world.ts'

export function failureConformance(open: OpenMetadata): void {
  it('is unavailable after it was closed, and says for what', async () => {
    const { metadata, node } = await openWorld(open)
    await metadata.close()
    const calls = {
      'creating streams': metadata.streams.create([topicStream('a')], 1),
      'listing topics': metadata.streams.listTopics({ after: null, limit: 1 }),
      'committing WAL objects': metadata.log.commitWalObjects(node, []),
      'registering node 3': metadata.nodes.register({ nodeId: 3, addresses: {}, slots: 1 }, 1),
    }
    for (const [doing, call] of Object.entries(calls)) {
      const error = await call.then(
        () => null,
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(MetadataUnavailableError)
      expect(error).toMatchObject({ code: 'PICO_METADATA_UNAVAILABLE', cause: expect.any(Error) })
      expect(String(error)).toContain(doing)
    }
    await metadata.close()
  })

  it('finishes what is under way before it closes', async () => {
    const { metadata } = await openWorld(open)
    const creating = metadata.streams.create(
      Array.from({ length: 3000 }, (_, index) => topicStream(`t${index}`)),
      1,
    )
    await metadata.close()
    expect(await creating).toHaveLength(3000)
  })

  it('reads no half of a write that is under way', async () => {
    const { metadata } = await openWorld(open)
    const creating = metadata.streams.create(
      Array.from({ length: 3000 }, (_, index) => topicStream(`t${index}`)),
      1,
    )
    const counts: number[] = []
    while (counts.at(-1) !== 3000) counts.push(await metadata.streams.count())
    await creating
    expect(counts.filter((count) => count !== 0 && count !== 3000)).toEqual([])
  })

  it('serves on after a call that failed half way', async () => {
    const { metadata, node } = await openWorld(open)
    const [stream] = await metadata.streams.create([topicStream('a')], 1)
    const extents = [extentOf(stream?.streamId ?? 0, 0, 5, 1)]
    const objects = [{ objectId: 1, key: 'data/1', lengthBytes: 49 }]
    const pack = { objects, extents, states: [], walObjects: [], walSegments: [] }
    await metadata.log.announceUpload('data/1', 100)
    await expect(metadata.log.commitPack(node, pack, 1)).rejects.toThrow('outside')
    const larger = { ...pack, objects: [{ objectId: 1, key: 'data/1', lengthBytes: 50 }] }
    expect(await metadata.log.commitPack(node, larger, 1)).toEqual({ skippedStreamIds: [] })
  })
}
