import { openSqliteMetadata } from '@pico/metadata/sqlite'

const metadata = await openSqliteMetadata({ path: ':memory:' })
const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, Date.now())
const topicId = crypto.randomUUID()
const orders = { name: '/orders', topic: 'orders', partition: 0, topicId, contentType: 'text/plain', config: {} }
const [{ streamId } = { streamId: 0 }] = await metadata.streams.create([orders], Date.now())
await metadata.streams.open(node, [streamId])

// A flush: an uploaded WAL object becomes part of the log, whatever number of streams is in it.
const index = new Uint8Array([1, 2, 3])
await metadata.log.commitWalObjects(node, [{ sequence: 1, key: 'wal/1/1/1', lengthBytes: 400, index }])

// A pack: the same entries, now in a data object. The WAL object goes once its time has come.
await metadata.log.announceUpload('data/1', Date.now() + 60_000)
const place = { objectId: 1, position: 0, lengthBytes: 400, maxTimestampMs: Date.now(), crc32c: null }
const pack = {
  objects: [{ objectId: 1, key: 'data/1', lengthBytes: 500 }],
  extents: [{ streamId, baseOffset: 0, endOffset: 10, ...place }],
  states: [],
  walObjects: [{ node, sequence: 1 }],
  walSegments: [],
}
await metadata.log.commitPack(node, pack, Date.now())

const [opened] = await metadata.streams.open(node, [streamId])
console.log(opened?.extents.map(({ baseOffset, endOffset, objectKey }) => ({ baseOffset, endOffset, objectKey })))
console.log((await metadata.log.doomed(Date.now(), 10)).map((object) => object.key))

// Another start of the node: whatever the earlier one still sends is refused.
await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, Date.now())
await metadata.streams.trim(node, streamId, 5, Date.now()).catch((error) => console.log(error.code))
await metadata.close()
