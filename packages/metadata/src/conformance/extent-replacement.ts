import { expect, it } from 'vitest'
import { StreamNotOwnedError, UploadExpiredError } from '../errors.ts'
import type { ExtentReplacement } from '../log-index.ts'
import {
  dataObject,
  doomedKeys,
  extentOf,
  extentsOf,
  farMs,
  type OpenMetadata,
  openedStreams,
  openWorld,
  packed,
  type World,
} from './world.ts'

export function extentReplacementConformance(open: OpenMetadata): void {
  it('puts other bytes in the place of consecutive extents, counts them, and dooms what they pointed into', async () => {
    const { world, a, b } = await threePacks(open)
    expect(await replace(world, replacement(a))).toBe(true)
    expect(await extentsOf(world, a)).toEqual(['[0, 20) data/9@0', '[20, 30) data/3@200'])
    expect(await extentsOf(world, b)).toEqual(['[0, 5) data/1@500'])
    expect(await doomedKeys(world)).toEqual(['data/2'])
    const [row] = await world.metadata.streams.byStreamId([a])
    expect(row).toMatchObject({ packedBytes: 107, packedOffset: 30 })
  })

  it('may be repeated', async () => {
    const { world, a } = await threePacks(open)
    expect(await replace(world, replacement(a))).toBe(true)
    expect(await world.metadata.log.replaceExtents(world.node, replacement(a), 8)).toBe(true)
    expect(await extentsOf(world, a)).toEqual(['[0, 20) data/9@0', '[20, 30) data/3@200'])
    expect((await world.metadata.streams.byStreamId([a]))[0]?.packedBytes).toBe(107)
  })

  it('changes nothing when an extent was trimmed away, or is another one, and dooms the new object', async () => {
    const { world, a } = await threePacks(open)
    await world.metadata.streams.trim(world.node, a, 12, 1)
    expect(await replace(world, replacement(a))).toBe(false)
    expect(await extentsOf(world, a)).toEqual(['[10, 20) data/2@100', '[20, 30) data/3@200'])
    expect(await doomedKeys(world)).toContain('data/9')
    const other = replacement(a, 10)
    const wrong = { ...other, replaced: other.replaced.map((each) => ({ ...each, objectId: 3 })) }
    expect(await replace(world, wrong)).toBe(false)
  })

  it('changes nothing when the stream is gone', async () => {
    const { world, a } = await threePacks(open)
    await world.metadata.streams.delete([a], 1)
    expect(await replace(world, replacement(a))).toBe(false)
    expect(await doomedKeys(world)).toContain('data/9')
  })

  it('is refused to a node that is not the owner any more, and for an object that is overdue', async () => {
    const { world, a } = await threePacks(open)
    await world.metadata.log.announceUpload('data/9', 50)
    await expect(world.metadata.log.replaceExtents(world.node, replacement(a), 50)).rejects.toThrow(UploadExpiredError)
    const other = await world.metadata.nodes.register({ nodeId: 77, addresses: {}, slots: 1 }, 1)
    await world.metadata.streams.release(world.node, [a])
    await world.metadata.streams.open(other, [a])
    await expect(replace(world, replacement(a))).rejects.toThrow(StreamNotOwnedError)
    expect(await extentsOf(world, a, other)).toHaveLength(3)
  })
}

async function replace(world: World, wanted: ExtentReplacement): Promise<boolean> {
  await world.metadata.log.announceUpload(wanted.object.key, farMs)
  return world.metadata.log.replaceExtents(world.node, wanted, 8)
}

/** Seven bytes for what was 200. */
function replacement(streamId: number, from = 0): ExtentReplacement {
  const replaced = [
    { baseOffset: 0, endOffset: 10, objectId: 1 },
    { baseOffset: 10, endOffset: 20, objectId: 2 },
  ]
  return {
    object: dataObject(9),
    extent: extentOf(streamId, from, 20, 9, { position: 0, lengthBytes: 7 }),
    replaced: replaced.filter(({ baseOffset }) => baseOffset >= from),
  }
}

/** Stream a in three objects, of which b has a part of the first. */
async function threePacks(open: OpenMetadata): Promise<{ world: World; a: number; b: number }> {
  const world = await openWorld(open)
  const [first, second] = await openedStreams(world, 'a', 'b')
  const a = first?.streamId ?? 0
  const b = second?.streamId ?? 0
  await packed(world, [extentOf(a, 0, 10, 1), extentOf(b, 0, 5, 1, { position: 500 })])
  await packed(world, [extentOf(a, 10, 20, 2)])
  await packed(world, [extentOf(a, 20, 30, 3)])
  return { world, a, b }
}
