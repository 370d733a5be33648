import { type EntryFormat, openLog, systemClock } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openMemoryStore } from '@pico/storage/memory'

// Entries of 12 bytes: an offset, and a number to keep.
const format: EntryFormat = {
  headerBytes: 12,
  measure(bytes, at) {
    const offset = Number(Buffer.from(bytes.buffer, bytes.byteOffset + at, 8).readBigUInt64BE())
    return { lengthBytes: 12, baseOffset: offset, endOffset: offset + 1, maxTimestampMs: -1 }
  },
  fold: () => null,
}

const store = openMemoryStore()
const metadata = await openSqliteMetadata({ path: ':memory:' })
const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, Date.now())
const log = await openLog({ store, wal: { kind: 'local', store }, metadata, node, clock: systemClock, format })

const [row] = await metadata.streams.create(
  [{ name: '/numbers', topic: null, partition: 0, topicId: crypto.randomUUID(), contentType: 'x', config: {} }],
  Date.now(),
)
const [stream] = await log.open([row?.streamId ?? 0], () => ({ committed() {}, rolledBack() {} }))
if (stream === undefined) throw new Error('no such stream')

for (const number of [7, 8, 9]) {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(number, 8)
  const appended = stream.append({ bytes, count: 1, maxTimestampMs: -1, summary: new Uint8Array() })
  Buffer.from(appended.bytes.buffer, appended.bytes.byteOffset).writeBigUInt64BE(BigInt(appended.baseOffset))
  await appended.committed // durable, and readable
}

const read = await stream.read(1, 1024)
console.log(`offsets ${read?.baseOffset} to ${read?.endOffset}, ${read?.lengthBytes} bytes`)
await log.close()
await metadata.close()
