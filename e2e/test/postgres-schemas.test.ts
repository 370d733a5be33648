import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Metadata, SchemaMissingError } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import {
  openSchemaRegistry,
  type SchemaRegistry,
  SchemaUnavailableError,
  startSchemaWorkers,
} from '@pico/schema-registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'

const workerUrl = pathToFileURL(fileURLToPath(import.meta.resolve('@pico/schema-registry/worker')))
const binding = (name: string, version: number) =>
  ({ name, version, encoding: 'plain', tombstonesPass: false }) as const
const ofType = (type: string, title = '') => ({
  kind: 'json' as const,
  text: JSON.stringify({ title, type }),
  references: [],
})
const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Registries of several nodes over one Postgres: what one of them does, the others go by. */
describe('schemas in Postgres', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  interface Node {
    readonly metadata: Metadata
    readonly registry: SchemaRegistry
  }

  async function nodes(
    count: number,
    onTestFinished: (end: () => Promise<void>) => void,
    retry: { readonly retryForMs?: number } = {},
  ): Promise<Node[]> {
    const url = await server.createDatabase()
    const opened: Node[] = []
    for (let index = 0; index < count; index++) {
      const metadata = await openPostgresMetadata({ url, connectionsMax: 3, ...retry })
      const startWorkers = () => startSchemaWorkers({ workers: 1, deadlineMs: 5000, heapMb: 128, workerUrl })
      const registry = openSchemaRegistry({ catalog: metadata.schemas, startWorkers, nowMs: Date.now })
      onTestFinished(async () => {
        await registry.close()
        await metadata.close()
      })
      opened.push({ metadata, registry })
    }
    return opened
  }

  it('are known on every node as soon as one has registered them, deleted them, or set a policy', async ({
    onTestFinished,
  }) => {
    const [one, other] = (await nodes(2, onTestFinished)) as [Node, Node]
    // Workers take longer to start than anything else here.
    await one.registry.put('warm', ofType('string'))
    await other.registry.judgeValues(binding('warm', 1), [json('x')])
    for (let version = 1; version <= 5; version++) {
      const put = await one.registry.put('orders', ofType('integer', `version ${version}`), 'none')
      const putAtMs = performance.now()
      expect(put).toMatchObject({ outcome: 'registered', schema: { version } })
      expect(await other.registry.pin('orders')).toBe(`orders:${version}`)
      expect(await other.registry.judgeValues(binding('orders', version), [json(1), json('x')])).toMatchObject([
        { index: 1 },
      ])
      expect(performance.now() - putAtMs).toBeLessThan(2000)
    }
    await one.registry.setPolicy('orders', 'full')
    expect((await other.registry.policies('orders')).own).toBe('full')
    await one.registry.remove('orders', 5, 'soft')
    expect(await other.registry.pin('orders')).toBe('orders:4')
    expect(await other.registry.pin('orders:5')).toBe(null)
  })

  it('have one version after another, whichever nodes register them at once', async ({ onTestFinished }) => {
    const all = await nodes(3, onTestFinished)
    const put = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        all[index % 3]?.registry.put('orders', ofType('integer', `title ${index % 4}`), 'none'),
      ),
    )
    const versions = put.map((each) => (each?.outcome === 'registered' ? each.schema.version : each?.outcome))
    // Four of them mean something of their own, each registered by three nodes.
    expect(new Set(versions)).toEqual(new Set([1, 2, 3, 4]))
    expect(put.filter((each) => each?.outcome === 'registered' && each.isNew)).toHaveLength(4)
    for (let title = 0; title < 4; title++) expect(versions[title]).toBe(versions[title + 4])
  })

  it('let one of those in that may not follow one another', async ({ onTestFinished }) => {
    const [one, other] = (await nodes(2, onTestFinished)) as [Node, Node]
    for (let round = 0; round < 5; round++) {
      const name = `orders-${round}`
      const put = await Promise.all([
        one.registry.put(name, ofType('integer')),
        other.registry.put(name, ofType('string')),
      ])
      expect(put.map(({ outcome }) => outcome).sort()).toEqual(['incompatible', 'registered'])
    }
  })

  it('are bound on one node or deleted on another, and never both', async ({ onTestFinished }) => {
    const [one, other] = (await nodes(2, onTestFinished)) as [Node, Node]
    const outcomes = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const name = `orders-${round}`
      await one.registry.put(name, ofType('integer'))
      const config = { 'pico.schema': `${name}:1` }
      const stream = {
        name: `/${name}`,
        topic: name,
        partition: 0,
        topicId: crypto.randomUUID(),
        contentType: 'a/b',
        config,
      }
      const [bound, removed] = await Promise.all([
        one.metadata.streams.create([stream], 1).then(
          () => 'bound',
          (error: unknown) => (error instanceof SchemaMissingError ? 'missing' : Promise.reject(error)),
        ),
        other.registry.remove(name, null, 'soft'),
      ])
      outcomes.add(`${bound} ${removed.outcome}`)
    }
    for (const outcome of outcomes) expect(['bound bound', 'missing removed']).toContain(outcome)
  })

  it('are there after the database was killed; what was loaded is judged meanwhile, and nothing else', async ({
    onTestFinished,
  }) => {
    const [node] = (await nodes(1, onTestFinished, { retryForMs: 500 })) as [Node]
    await node.registry.put('loaded', ofType('integer'))
    await node.registry.put('not-loaded', ofType('string'))
    const judge = (name: string) => node.registry.judgeValues(binding(name, 1), [json(1)])
    expect(await judge('loaded')).toEqual([])
    const restarted = server.restart('kill', 2500)
    await sleep(300)
    expect(await judge('loaded')).toEqual([])
    await expect(judge('not-loaded')).rejects.toThrow(SchemaUnavailableError)
    await restarted
    expect(await judge('not-loaded')).toHaveLength(1)
    expect(await node.registry.pin('not-loaded')).toBe('not-loaded:1')
  })
})
