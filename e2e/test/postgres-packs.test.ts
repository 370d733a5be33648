import type { NodeIdentity } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'

const packedStreams = 1500
const packs = 4

/** Large transactions beside many small ones: what each of them costs the others. */
describe('packs in Postgres', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  it('are not given up for streams that are made and opened meanwhile', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    let attempts = 0
    const onStatement = (sql: string) => {
      if (sql.startsWith('lock table')) attempts += 1
    }
    const metadata = await openPostgresMetadata({ url, onStatement })
    onTestFinished(() => metadata.close())
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    let made = 0
    const makeSome = async (by: NodeIdentity, count: number) => {
      const first = made
      made += count
      const names = Array.from({ length: count }, (_, index) => `s-${first + index}`)
      const streams = names.map((name) => ({
        name: `/${name}`,
        topic: name,
        partition: 0,
        topicId: crypto.randomUUID(),
        contentType: 'text/plain',
        config: {},
      }))
      const streamIds = (await metadata.streams.create(streams, 1)).map(({ streamId }) => streamId)
      await metadata.streams.open(by, streamIds)
      return streamIds
    }
    const streamIds: number[] = []
    while (streamIds.length < packedStreams) streamIds.push(...(await makeSome(node, 250)))

    let isOver = false
    const another = await metadata.nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, 1)
    const making = [node, another].map(async (by) => {
      while (!isOver) await makeSome(by, 20)
    })
    for (let pack = 0; pack < packs; pack++) {
      const object = {
        objectId: await metadata.nodes.reserve('objectId', 1),
        key: `data/${pack}`,
        lengthBytes: packedStreams,
      }
      await metadata.log.announceUpload(object.key, 1000)
      const extents = streamIds.map((streamId, index) => ({
        ...{ streamId, baseOffset: pack, endOffset: pack + 1, objectId: object.objectId },
        ...{ position: index, lengthBytes: 1, maxTimestampMs: 1, crc32c: null },
      }))
      await metadata.log.commitPack(
        node,
        { objects: [object], extents, states: [], walObjects: [], walSegments: [] },
        1,
      )
    }
    isOver = true
    await Promise.all(making)
    expect(made).toBeGreaterThan(packedStreams)
    expect(attempts).toBe(packs)
  })

  it('leave no object behind when a trim takes its last extent away at the same moment', async ({ onTestFinished }) => {
    const url = await server.createDatabase()
    const metadata = await openPostgresMetadata({ url })
    onTestFinished(() => metadata.close())
    const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    for (let round = 1; round <= 30; round++) {
      const [moved, stays] = await metadata.streams.create(
        [`m-${round}`, `s-${round}`].map((name) => ({
          ...{ name: `/${name}`, topic: name, partition: 0, topicId: crypto.randomUUID(), contentType: 'text/plain' },
          config: {},
        })),
        1,
      )
      const ids = [moved, stays].map((record) => record?.streamId ?? 0) as [number, number]
      await metadata.streams.open(node, ids)
      const key = `wal/${round}`
      await metadata.log.commitWalObjects(node, [{ sequence: round, key, lengthBytes: 2, index: new Uint8Array(1) }])
      const part = { baseOffset: 0, endOffset: 1, lengthBytes: 1, maxTimestampMs: 1 }
      // One stream of the object is taken over, as for a transfer: both the WAL and the extents name it then.
      const adopted = { objectId: await metadata.nodes.reserve('objectId', 1), key, lengthBytes: 2 }
      const extents = [{ ...part, streamId: ids[0], objectId: adopted.objectId, position: 0, crc32c: 1 }]
      const none = { states: [], walObjects: [], walSegments: [] }
      await metadata.log.commitPack(node, { ...none, objects: [adopted], extents }, 1)
      const packed = { objectId: await metadata.nodes.reserve('objectId', 1), key: `data/${round}`, lengthBytes: 1 }
      await metadata.log.announceUpload(packed.key, 1000)
      const rest = {
        ...none,
        objects: [packed],
        extents: [{ ...part, streamId: ids[1], objectId: packed.objectId, position: 0, crc32c: null }],
        walObjects: [{ node, sequence: round }],
      }
      await Promise.all([metadata.log.commitPack(node, rest, 1), metadata.streams.trim(node, ids[0], 1, 1)])
    }
    const doomed = new Set((await metadata.log.doomed(10, 1000)).map(({ key }) => key))
    expect([...doomed].filter((key) => key.startsWith('wal/'))).toHaveLength(30)
  })
})
