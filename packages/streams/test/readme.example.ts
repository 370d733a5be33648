import { systemClock as clock, openLog } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { BatchBuilder } from '@pico/record-batch'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, recordBatchEntries } from '@pico/streams'

const metadata = await openSqliteMetadata({ path: ':memory:' })
const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
const clusterId = await metadata.nodes.clusterId()
const store = openMemoryStore()
const wal = { kind: 'local', store } as const
const log = await openLog({ store, wal, metadata, node, clock, format: recordBatchEntries })
const streams = await openStreams({ log, metadata, node, clusterId, clock })

await streams.createTopic({ name: 'orders', partitions: 1, config: {}, validateOnly: false })
const orders = await streams.partition({ name: 'orders' }, 0)
if (typeof orders === 'string') throw new Error(orders)

const batch = new BatchBuilder()
batch.append({ key: 'order-1', value: 'two teapots' })
const { accepted, refused } = orders.append(batch.build(), { zstdAllowed: true })
if (refused) throw new Error(refused.message)
await accepted.committed // durable, and readable from now on

// The same partition by its path, as HTTP has it.
const path = await streams.paths.open('/orders')
if (typeof path === 'string' || 'kind' in path) throw new Error('not here')
const outcome = path.appendRecords([{ value: 'three cups' }], { matchOffset: 1, close: true })
if (outcome.kind !== 'appended') throw new Error(outcome.kind)
await outcome.committed

const read = await orders.read(0, 1_000_000)
if (read === null || read === 'out-of-range') throw new Error('nothing to read')
console.log(`offsets ${read.baseOffset} to ${read.endOffset - 1} in ${read.lengthBytes} bytes of RecordBatch v2`)
console.log(await streams.paths.describe('/orders').then((it) => typeof it !== 'string' && 'closed' in it && it.closed))

await streams.close()
await log.close()
await metadata.close()
