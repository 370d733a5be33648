import { defaultHttpSettings, listenHttp } from '@pico/http-api'
import { systemClock as clock, openLog } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openMemoryStore } from '@pico/storage/memory'
import { recordBatchEntries as format, openStreams } from '@pico/streams'

// Everything below HTTP, in memory.
const store = openMemoryStore()
const metadata = await openSqliteMetadata({ path: ':memory:' })
const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
const engine = await openLog({ store, wal: { kind: 'local', store }, metadata, node, clock, format })
const streams = await openStreams({ log: engine, metadata, node, clusterId: 'example', clock })

const log = { debug() {}, info() {}, warn: console.warn, error: console.error }
const listener = await listenHttp({ streams, clock, log }, { ...defaultHttpSettings, host: '127.0.0.1', port: 0 })
const orders = `http://${listener.host}:${listener.port}/orders`

await fetch(orders, { method: 'PUT', headers: { 'Content-Type': 'text/plain' } })
const appended = await fetch(orders, { method: 'POST', body: 'one lamp' })
console.log('next:', appended.headers.get('Pico-Next-Seq'))
const records = (await (await fetch(`${orders}?seq=0`)).json()) as { seq: number; body: string }[]
for (const { seq, body } of records) console.log(seq, body)

await listener.close(1000)
await streams.close()
await engine.close()
await metadata.close()
