import { expect, it } from 'vitest'
import { extentOf, type OpenMetadata, openWorld, packed, topicStream, type World, walObject } from './world.ts'

/** What calls cost, in statements: they are round trips on one dialect and event loop time on the other. */
export function costConformance(open: OpenMetadata): void {
  it('commits a flush with the same few statements whatever is in it', async () => {
    const world = await openWorld(open)
    const commit = (sequence: number, indexBytes: number) =>
      world.metadata.log.commitWalObjects(world.node, [
        { ...walObject(world.node, sequence), index: new Uint8Array(indexBytes) },
      ])
    const small = await statementsOf(world, () => commit(1, 40))
    const large = await statementsOf(world, () => commit(2, 40_000))
    expect(large).toEqual(small)
    expect(small.length).toBeGreaterThan(0)
    expect(small.length).toBeLessThanOrEqual(4)
  })

  it('commits several uploads together for the price of one', async () => {
    const world = await openWorld(open)
    const statements = await statementsOf(world, () =>
      world.metadata.log.commitWalObjects(
        world.node,
        Array.from({ length: 64 }, (_, index) => walObject(world.node, index + 1)),
      ),
    )
    expect(statements.length).toBeLessThanOrEqual(4)
  })

  it('creates, opens, packs, lists and deletes thousands of streams in a few dozen statements', async () => {
    const world = await openWorld(open)
    const { streams, log } = world.metadata
    const topics = Array.from({ length: 4000 }, (_, index) => topicStream(`t${index}`))
    let streamIds: number[] = []
    const creating = await statementsOf(world, async () => {
      streamIds = (await streams.create(topics, 1)).map((stream) => stream.streamId)
    })
    const opening = await statementsOf(world, () => streams.open(world.node, streamIds))
    const extents = streamIds.map((streamId) => extentOf(streamId, 0, 1, 1))
    const states = streamIds.map((streamId) => ({ streamId, state: new Uint8Array(10) }))
    const packing = await statementsOf(world, () => packed(world, extents, { states }))
    const listing = await statementsOf(world, () => streams.listTopics({ after: null, limit: 4000 }))
    const reading = await statementsOf(world, () => log.packedOffsets(streamIds))
    const deleting = await statementsOf(world, () => streams.delete(streamIds, 1))
    const counts = { creating, opening, packing, listing, reading, deleting }
    for (const [name, statements] of Object.entries(counts)) {
      expect(statements.length, name).toBeGreaterThan(0)
      expect(statements.length, name).toBeLessThanOrEqual(100)
    }
    expect(listing).toHaveLength(1)
  })

  it('looks for due retention with the same statements however many streams set no limit', async () => {
    const world = await openWorld(open)
    await world.metadata.streams.create([topicStream('limited', 0, { 'retention.ms': '1' })], 1)
    const due = () => world.metadata.streams.retentionDue({ node: world.node, unowned: true }, 1, 10)
    const alone = await statementsOf(world, due)
    await world.metadata.streams.create(
      Array.from({ length: 1000 }, (_, index) => topicStream(`t${index}`)),
      1,
    )
    expect(await statementsOf(world, due)).toEqual(alone)
  })
}

async function statementsOf(world: World, task: () => Promise<unknown>): Promise<string[]> {
  world.statements.length = 0
  await task()
  return [...world.statements]
}
