import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openSchemaRegistry, startSchemaWorkers } from '@pico/schema-registry'

const metadata = await openSqliteMetadata({ path: ':memory:' })
const workerUrl = new URL(import.meta.resolve('@pico/schema-registry/worker'))
const startWorkers = () => startSchemaWorkers({ workers: 2, deadlineMs: 500, heapMb: 256, workerUrl })
const registry = openSchemaRegistry({ catalog: metadata.schemas, startWorkers, nowMs: Date.now })

const json = (schema: object) => ({ kind: 'json', text: JSON.stringify(schema), references: [] }) as const
const order = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
await registry.put('orders', json(order))
console.log(await registry.pin('orders'))

// Whoever has written `{}` so far would not be understood any more.
const stricter = await registry.put('orders', json({ ...order, required: ['id', 'note'] }))
console.log(stricter.outcome === 'incompatible' && stricter.problems)

const binding = { name: 'orders', version: 1, encoding: 'plain', tombstonesPass: false } as const
const values = ['{"id":1}', '{"id":"x"}'].map((text) => Buffer.from(text))
console.log(await registry.judgeValues(binding, values))

await registry.close()
await metadata.close()
