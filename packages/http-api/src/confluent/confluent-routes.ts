import type { RegisteredSchema, SchemaKind, SchemaRegistry } from '@pico/schema-registry'
import type { Exchange } from '../server/exchange.ts'
import {
  ConfluentError,
  invalidSchema,
  lines,
  notRemoved,
  refusedDraft,
  schemaNotFound,
  subjectNotFound,
  versionNotFound,
} from './confluent-errors.ts'
import {
  draftOf,
  isOn,
  levelOf,
  policyOf,
  schemaIdOf,
  subjectOf,
  typesByKind,
  versionOf,
} from './confluent-requests.ts'

/** What a route works with. */
export interface Asked {
  readonly exchange: Exchange
  readonly registry: SchemaRegistry
  readonly query: URLSearchParams
  /** What stands in the path in the places of `{…}`, in order. */
  readonly at: (index: number) => string
}

/** An answer in JSON; or text that is the answer itself. */
export type Answered = unknown | RawText

export class RawText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** By method and path, as Confluent's documentation has them. */
export const routes: readonly (readonly [method: string, path: string, answer: (asked: Asked) => Promise<Answered>])[] =
  [
    ['GET', '/', async () => ({})],
    ['GET', '/schemas/types', async () => Object.values(typesByKind)],
    ['GET', '/schemas/ids/{id}', schemaById],
    ['GET', '/schemas/ids/{id}/schema', async (asked) => new RawText(await textOf(asked, await byId(asked)))],
    [
      'GET',
      '/schemas/ids/{id}/subjects',
      async (asked) => [...new Set((await versionsOfId(asked)).map(({ name }) => name))],
    ],
    [
      'GET',
      '/schemas/ids/{id}/versions',
      async (asked) => (await versionsOfId(asked)).map(({ name, version }) => ({ subject: name, version })),
    ],
    ['GET', '/subjects', subjects],
    ['POST', '/subjects/{subject}', lookUp],
    ['DELETE', '/subjects/{subject}', removeSubject],
    ['GET', '/subjects/{subject}/versions', versionNumbers],
    ['POST', '/subjects/{subject}/versions', register],
    ['GET', '/subjects/{subject}/versions/{version}', async (asked) => versionAnswer(asked, await versionAsked(asked))],
    [
      'GET',
      '/subjects/{subject}/versions/{version}/schema',
      async (asked) => new RawText(await textOf(asked, await versionAsked(asked))),
    ],
    ['GET', '/subjects/{subject}/versions/{version}/referencedby', referencedBy],
    ['DELETE', '/subjects/{subject}/versions/{version}', removeVersion],
    ['POST', '/compatibility/subjects/{subject}/versions', (asked) => check(asked, undefined)],
    ['POST', '/compatibility/subjects/{subject}/versions/{version}', (asked) => check(asked, versionOf(asked.at(1)))],
    ['GET', '/config', async ({ registry }) => ({ compatibilityLevel: levelOf((await registry.policies('')).common) })],
    ['PUT', '/config', (asked) => setPolicy(asked, null)],
    ['DELETE', '/config', removeCommonPolicy],
    ['GET', '/config/{subject}', policyOfSubject],
    ['PUT', '/config/{subject}', (asked) => setPolicy(asked, subjectOf(asked.at(0)))],
    ['DELETE', '/config/{subject}', removePolicy],
    ['GET', '/mode', async () => ({ mode })],
    ['GET', '/mode/{subject}', modeOfSubject],
    ['GET', '/contexts', async () => ['.']],
  ]

/** Of everything, always. */
const mode = 'READWRITE'

/** Read at a time. */
const pageSize = 1000
const versionsPageSize = 20

async function register({ exchange, registry, at }: Asked): Promise<object> {
  const subject = subjectOf(at(0))
  const put = await registry.put(subject, await draftOf(exchange, registry))
  if (put.outcome !== 'registered') throw refusedDraft(subject, put)
  return { id: put.schema.schemaId, version: put.schema.version }
}

async function lookUp(asked: Asked): Promise<object> {
  const { exchange, registry, query, at } = asked
  const subject = subjectOf(at(0))
  const draft = await draftOf(exchange, registry)
  const deleted = isOn(query, 'deleted')
  await requireSubject(registry, subject, deleted)
  const found = await registry.lookUp(subject, draft, deleted)
  if (found === null) throw schemaNotFound()
  if ('outcome' in found) throw refusedDraft(subject, found)
  return versionAnswer(asked, found)
}

async function check(asked: Asked, against: number | 'newest' | undefined): Promise<object> {
  const { exchange, registry, query, at } = asked
  const subject = subjectOf(at(0))
  const outcome = await registry.check(subject, await draftOf(exchange, registry), against)
  const told = (isCompatible: boolean, messages: readonly string[]) => ({
    is_compatible: isCompatible,
    ...(isOn(query, 'verbose') ? { messages } : {}),
  })
  switch (outcome.outcome) {
    case 'compatible':
      return told(true, [])
    case 'incompatible':
      return told(false, lines(outcome.problems))
    case 'missing':
      // What has no version yet takes anything.
      if (against === 'newest' || against === undefined) return told(true, [])
      await requireSubject(registry, subject, false)
      throw versionNotFound(against)
    default:
      throw refusedDraft(subject, outcome)
  }
}

async function schemaById(asked: Asked): Promise<object> {
  const schema = await byId(asked)
  return { schema: await textOf(asked, schema), ...typeOf(schema.kind), ...referencesOf(schema) }
}

async function byId({ registry, at }: Asked): Promise<RegisteredSchema> {
  const schemaId = schemaIdOf(at(0))
  const schema = await registry.bySchemaId(schemaId)
  if (schema === null) throw schemaNotFound(schemaId)
  return schema
}

async function versionsOfId(asked: Asked): Promise<RegisteredSchema[]> {
  const { schemaId } = await byId(asked)
  return asked.registry.withSchemaId(schemaId, { limit: pageSize, deleted: isOn(asked.query, 'deleted') })
}

async function subjects({ registry, query }: Asked): Promise<string[]> {
  const given = query.get('subjectPrefix') ?? ''
  // Contexts are ways to have several registries in one; there is only the default one.
  const prefix = given === ':*:' ? '' : given.replace(/^:\.:/, '')
  const onlyDeleted = isOn(query, 'deletedOnly')
  const deleted = onlyDeleted || isOn(query, 'deleted')
  const names: string[] = []
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<SchemaRegistry['list']>> = await registry.list({
      prefix,
      after,
      limit: pageSize,
      deleted,
    })
    for (const { name, isDeleted } of page) if (!onlyDeleted || isDeleted) names.push(name)
    after = page.at(-1)?.name ?? null
    if (page.length < pageSize) return names
  }
}

async function versionNumbers({ registry, query, at }: Asked): Promise<number[]> {
  const subject = subjectOf(at(0))
  const onlyDeleted = isOn(query, 'deletedOnly')
  const found = await allVersions(registry, subject, onlyDeleted || isOn(query, 'deleted'))
  const numbers = found.filter(({ isDeleted }) => !onlyDeleted || isDeleted).map(({ version }) => version)
  if (numbers.length === 0) throw subjectNotFound(subject)
  return numbers
}

async function allVersions(registry: SchemaRegistry, subject: string, deleted: boolean) {
  const found: { version: number; isDeleted: boolean }[] = []
  for (let after = 0; ; ) {
    const page = await registry.versions(subject, { after, limit: versionsPageSize, deleted })
    for (const { version, isDeleted } of page) found.push({ version, isDeleted })
    after = page.at(-1)?.version ?? 0
    if (page.length < versionsPageSize) return found
  }
}

/** @throws ConfluentError */
async function versionAsked({ registry, query, at }: Asked): Promise<RegisteredSchema> {
  const subject = subjectOf(at(0))
  const version = versionOf(at(1))
  const deleted = isOn(query, 'deleted')
  const found = await registry.get(subject, version)
  if (found !== null && (deleted || !found.isDeleted)) return found
  await requireSubject(registry, subject, deleted)
  throw version === 'newest' ? subjectNotFound(subject) : versionNotFound(version)
}

async function requireSubject(registry: SchemaRegistry, subject: string, deleted: boolean): Promise<void> {
  const [any] = await registry.versions(subject, { after: 0, limit: 1, deleted })
  if (any === undefined) throw subjectNotFound(subject)
}

async function versionAnswer(asked: Asked, schema: RegisteredSchema): Promise<object> {
  return {
    subject: schema.name,
    id: schema.schemaId,
    version: schema.version,
    ...typeOf(schema.kind),
    ...referencesOf(schema),
    schema: await textOf(asked, schema),
    ...(schema.isDeleted ? { deleted: true } : {}),
  }
}

/** Avro is what is not said to be something else. */
function typeOf(kind: SchemaKind): object {
  return kind === 'avro' ? {} : { schemaType: typesByKind[kind] }
}

function referencesOf({ references }: RegisteredSchema): object {
  if (references.length === 0) return {}
  return {
    references: references.map(({ importName, name, version }) => ({ name: importName, subject: name, version })),
  }
}

/** As it was registered; with `format=serialized`, a Protobuf file as serialized descriptor, which some clients read instead. */
async function textOf({ registry, query }: Asked, schema: RegisteredSchema): Promise<string> {
  if (schema.kind !== 'protobuf' || query.get('format') !== 'serialized') return schema.text
  const described = await registry.descriptorOf(schema)
  if ('problem' in described) throw invalidSchema(described.problem)
  return described.descriptor
}

async function referencedBy(asked: Asked): Promise<number[]> {
  const { name, version } = await versionAsked(asked)
  const importers = await asked.registry.referencedBy(name, version, pageSize)
  return [...new Set(importers.map(({ schemaId }) => schemaId))]
}

async function removeSubject({ registry, query, at }: Asked): Promise<readonly number[]> {
  const subject = subjectOf(at(0))
  const outcome = await registry.remove(subject, null, isOn(query, 'permanent') ? 'final' : 'soft')
  if (outcome.outcome !== 'removed') throw notRemoved(subject, null, outcome)
  return outcome.versions
}

async function removeVersion(asked: Asked): Promise<number> {
  const { registry, query, at } = asked
  const subject = subjectOf(at(0))
  const named = versionOf(at(1))
  const version = named === 'newest' ? (await versionAsked(asked)).version : named
  const outcome = await registry.remove(subject, version, isOn(query, 'permanent') ? 'final' : 'soft')
  if (outcome.outcome === 'removed') return version
  if (outcome.outcome === 'missing') await requireSubject(registry, subject, true)
  throw notRemoved(subject, version, outcome)
}

async function setPolicy({ exchange, registry }: Asked, subject: string | null): Promise<object> {
  const policy = await policyOf(exchange)
  await registry.setPolicy(subject, policy)
  return { compatibility: levelOf(policy) }
}

async function removeCommonPolicy({ registry }: Asked): Promise<object> {
  await registry.setPolicy(null, null)
  return { compatibilityLevel: levelOf((await registry.policies('')).common) }
}

async function policyOfSubject({ registry, query, at }: Asked): Promise<object> {
  const subject = subjectOf(at(0))
  const { own, common } = await registry.policies(subject)
  if (own !== null || isOn(query, 'defaultToGlobal')) return { compatibilityLevel: levelOf(own ?? common) }
  throw new ConfluentError(40408, `Subject '${subject}' does not have subject-level compatibility configured`)
}

async function removePolicy({ registry, at }: Asked): Promise<object> {
  const subject = subjectOf(at(0))
  const { own } = await registry.policies(subject)
  if (own === null) throw subjectNotFound(subject)
  await registry.setPolicy(subject, null)
  return { compatibilityLevel: levelOf(own) }
}

async function modeOfSubject({ query, at }: Asked): Promise<object> {
  const subject = subjectOf(at(0))
  if (isOn(query, 'defaultToGlobal')) return { mode }
  throw new ConfluentError(40409, `Subject '${subject}' does not have subject-level mode configured`)
}
