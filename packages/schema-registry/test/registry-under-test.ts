import type { Metadata, NewStream } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { afterAll, onTestFinished } from 'vitest'
import { openSchemaRegistry, type SchemaRegistry, type SchemaRegistrySettings } from '../src/registry.ts'
import type { SchemaKind } from '../src/schema.ts'
import { type SchemaWorkers, startSchemaWorkers } from '../src/workers/schema-workers.ts'

export interface RegistryUnderTest {
  readonly metadata: Metadata
  readonly registry: SchemaRegistry
  /** How often its workers were started. */
  starts(): number
}

/** A registry over a database in memory, closed when the test is over. */
export async function openedRegistry(settings: Partial<SchemaRegistrySettings> = {}): Promise<RegistryUnderTest> {
  const metadata = await openSqliteMetadata({ path: ':memory:' })
  onTestFinished(() => metadata.close())
  return { metadata, ...registryOver(metadata, settings) }
}

/** One more over the same database, as another node has it. */
export function registryOver(
  metadata: Metadata,
  settings: Partial<SchemaRegistrySettings> = {},
): Omit<RegistryUnderTest, 'metadata'> {
  let starts = 0
  const startWorkers = (): SchemaWorkers => {
    starts++
    shared ??= startedWorkers()
    // Threads take long to start: all registries of a file have the same.
    return { ...shared, close: async () => {} }
  }
  const registry = openSchemaRegistry({ catalog: metadata.schemas, startWorkers, nowMs: () => 1234 }, settings)
  onTestFinished(() => registry.close())
  return { registry, starts: () => starts }
}

let shared: SchemaWorkers | null = null
afterAll(() => shared?.close())

function startedWorkers(): SchemaWorkers {
  const workerUrl = new URL('../src/worker.ts', import.meta.url)
  return startSchemaWorkers({ workers: 1, deadlineMs: 2000, heapMb: 128, workerUrl })
}

export function draft(schema: unknown, rest: { kind?: SchemaKind; references?: readonly Reference[] } = {}) {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema)
  return { kind: 'json' as SchemaKind, text, references: [], ...rest }
}

interface Reference {
  readonly importName: string
  readonly name: string
  readonly version: number
}

/** A schema of objects: these properties, whose types are given, `!` after a name that is required; nothing else is allowed. */
export function object(properties: Readonly<Record<string, string>>, open = false) {
  const names = Object.keys(properties)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace('!', ''), { type: properties[name] }])),
    required: names.filter((name) => name.endsWith('!')).map((name) => name.slice(0, -1)),
    ...(open ? {} : { additionalProperties: false }),
  }
}

export function topic(name: string, config: Readonly<Record<string, string>>): NewStream {
  const topicId = `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0').slice(-12)}`
  return { name: `/${name}`, topic: name, partition: 0, topicId, contentType: 'application/json', config }
}
