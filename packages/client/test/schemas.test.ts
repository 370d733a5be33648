import { defaultHttpSettings, listenHttp } from '@pico/http-api'
import { openLog, systemClock } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openSchemaRegistry, startSchemaWorkers } from '@pico/schema-registry'
import { openMemoryStore } from '@pico/storage/memory'
import { openStreams, recordBatchEntries } from '@pico/streams'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PicoClient, PicoError, type SchemaText } from '../src/index.ts'

const workerUrl = new URL('../../schema-registry/src/worker.ts', import.meta.url)

/** A server with a registry, in memory. */
let client: PicoClient
let close: () => Promise<void>
beforeAll(async () => {
  const store = openMemoryStore()
  const clock = systemClock
  const metadata = await openSqliteMetadata({ path: ':memory:' })
  const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
  const log = await openLog({ store, wal: { kind: 'local', store }, metadata, node, clock, format: recordBatchEntries })
  const startWorkers = () => startSchemaWorkers({ workers: 1, deadlineMs: 2000, heapMb: 128, workerUrl })
  const registry = openSchemaRegistry({ catalog: metadata.schemas, startWorkers, nowMs: () => clock.nowMs() })
  const streams = await openStreams({ log, metadata, node, clusterId: 'c', clock, schemas: registry }, {})
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const listener = await listenHttp(
    { streams, schemas: registry, registry, clock, log: silent },
    { ...defaultHttpSettings, host: '127.0.0.1', port: 0 },
  )
  client = new PicoClient({ endpoint: `http://127.0.0.1:${listener.port}`, retry: { giveUpAfterMs: 500 } })
  close = async () => {
    await client.close()
    await listener.close(0)
    await streams.close()
    await log.close()
    await registry.close()
    await metadata.close()
  }
})
afterAll(() => close())

const ofType = (type: string, description = ''): SchemaText => ({
  kind: 'json',
  text: JSON.stringify({ description, type }),
})

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

it('registers, reads, lists and deletes schemas', async () => {
  const { schemas } = client
  expect(await schemas.put('a', ofType('integer'))).toMatchObject({
    version: 1,
    created: true,
    compatibility: 'backward',
  })
  expect(await schemas.put('a', ofType('integer'))).toMatchObject({ version: 1, created: false })
  await schemas.put('a', ofType('number'), { compatibility: 'backward-transitive' })
  await schemas.put('b', ofType('string'))
  expect(await schemas.get('a')).toMatchObject({ version: 2, schema: ofType('number').text, kind: 'json' })
  expect(await schemas.get('a', 1)).toMatchObject({ version: 1, schema: ofType('integer').text })
  expect((await all(schemas.list())).map(({ name, version }) => `${name}:${version}`)).toEqual(['a:2', 'b:1'])
  expect((await all(schemas.list({ prefix: 'b' }))).map(({ name }) => name)).toEqual(['b'])
  expect((await all(schemas.versions('a'))).map(({ version }) => version)).toEqual([1, 2])
  await schemas.delete('a', 2)
  expect(await schemas.get('a')).toMatchObject({ version: 1 })
  expect(await schemas.get('a', 2, { deleted: true })).toMatchObject({ version: 2, deleted: true })
  await schemas.delete('a', null, { permanent: true })
  await expect(schemas.get('a', 1, { deleted: true })).rejects.toMatchObject({ code: 'not_found' })
})

it('says why a schema is refused', async () => {
  const { schemas } = client
  await schemas.put('c', ofType('integer'))
  const refused = await schemas.put('c', ofType('string')).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(PicoError)
  expect(refused).toMatchObject({
    code: 'incompatible',
    status: 409,
    reasons: [{ version: 1, path: '/type', reason: expect.any(String) }],
  })
  await expect(schemas.put('c', { kind: 'json', text: '{' })).rejects.toMatchObject({
    code: 'invalid_schema',
    reasons: [{ path: '', reason: expect.any(String) }],
  })
  expect(await schemas.check('c', ofType('number'))).toMatchObject({ compatible: true, reasons: [] })
  expect(await schemas.check('c', ofType('string'), { version: 1 })).toMatchObject({ compatible: false })
  await client.stream('/bound').create({ schema: 'c' })
  await expect(schemas.delete('c')).rejects.toMatchObject({ code: 'in_use', status: 409 })
})
