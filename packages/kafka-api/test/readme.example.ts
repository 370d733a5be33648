import { createKafkaApi, defaultKafkaApiSettings, defaultListenSettings, listenKafka } from '@pico/kafka-api'
import { systemClock as clock, openLog } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openMemoryStore } from '@pico/storage/memory'
import { recordBatchEntries as format, openStreams } from '@pico/streams'

// Everything below the Kafka API, in memory.
const store = openMemoryStore()
const metadata = await openSqliteMetadata({ path: ':memory:' })
const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
const engine = await openLog({ store, wal: { kind: 'local', store }, metadata, node, clock, format })
const streams = await openStreams({ log: engine, metadata, node, clusterId: 'example', clock })

const log = { debug() {}, info() {}, warn: console.warn, error: console.error }
const advertised = { nodeId: 1, host: '127.0.0.1', port: 0, rack: null }
const cluster = { brokers: () => [advertised] }
const api = createKafkaApi({ streams, cluster, clock, log }, defaultKafkaApiSettings)
const listener = await listenKafka({ api, log }, { ...defaultListenSettings, host: '127.0.0.1', port: 0 })
advertised.port = listener.port // what clients are told to connect to

const apis = api.served.map(({ name, versions }) => `${name} ${versions.join('-')}`)
console.log(`kcat -b ${listener.host}:<port> would be served ${apis.slice(0, 2).join(', ')} and more`)

await listener.close(1000)
await streams.close()
await engine.close()
await metadata.close()
