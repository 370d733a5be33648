import { problemText } from '@pico/http-contract'
import {
  type CompatibilityPolicy,
  compatibilityPolicies,
  type SchemaDraft,
  type SchemaKind,
  type SchemaRegistry,
  schemaNameProblem,
} from '@pico/schema-registry'
import { z } from 'zod'
import type { Exchange } from '../server/exchange.ts'
import { ConfluentError, invalidSchema, invalidVersion } from './confluent-errors.ts'

export const kindsByType = { AVRO: 'avro', JSON: 'json', PROTOBUF: 'protobuf' } as const satisfies Record<
  string,
  SchemaKind
>
export const typesByKind = { avro: 'AVRO', json: 'JSON', protobuf: 'PROTOBUF' } as const satisfies Record<
  SchemaKind,
  string
>

const versionNumber = z.number().int().nullish()

/** What newer clients may send besides: nothing, or nothing in it. */
const rules = z.array(z.unknown()).nullish()
const ruleSet = z.looseObject({ migrationRules: rules, domainRules: rules, encodingRules: rules }).nullish()
const metadata = z
  .looseObject({
    tags: z.record(z.string(), z.unknown()).nullish(),
    properties: z.record(z.string(), z.unknown()).nullish(),
    sensitive: z.array(z.unknown()).nullish(),
  })
  .nullish()

const schemaBody = z.looseObject({
  schema: z.string().nullish(),
  schemaType: z.string().nullish(),
  references: z.array(z.looseObject({ name: z.string(), subject: z.string(), version: z.number().int() })).nullish(),
  id: versionNumber,
  version: versionNumber,
  metadata,
  ruleSet,
})

const configBody = z.looseObject({ compatibility: z.string().nullish() })

/** @throws ConfluentError */
export async function draftOf(exchange: Exchange, registry: SchemaRegistry): Promise<SchemaDraft> {
  const body = valid(schemaBody, await jsonBody(exchange))
  refuseRules(body)
  // Only a registry that imports another one's schemas lets its clients choose.
  if ((body.id ?? -1) > 0) throw new ConfluentError(42205, 'The registry is not in import mode: an id cannot be chosen')
  const type = body.schemaType ?? 'AVRO'
  if (!Object.hasOwn(kindsByType, type)) throw invalidSchema(`the schema type ${type} is unknown`)
  const kind = kindsByType[type as keyof typeof kindsByType]
  const given = body.schema ?? ''
  if (given.trim() === '') throw invalidSchema('it is empty')
  const text = kind === 'protobuf' ? ((await registry.protoText(given)) ?? given) : given
  const references = []
  for (const { name, subject, version } of body.references ?? []) {
    const found = version > 0 ? version : ((await registry.get(subject, 'newest'))?.version ?? 0)
    references.push({ importName: name, name: subject, version: found })
  }
  return { kind, text, references }
}

function refuseRules(body: z.output<typeof schemaBody>): void {
  const rulesOf = body.ruleSet ?? {}
  for (const name of ['migrationRules', 'domainRules', 'encodingRules'] as const) {
    if ((rulesOf[name]?.length ?? 0) > 0) {
      throw new ConfluentError(42210, `Invalid rule set: ${name} are not carried out, so a schema with some is refused`)
    }
  }
  const { tags, properties, sensitive } = body.metadata ?? {}
  const kept = Object.keys(tags ?? {}).length + Object.keys(properties ?? {}).length + (sensitive?.length ?? 0)
  if (kept > 0) throw new ConfluentError(42210, 'Metadata of schemas are not kept, so a schema with some is refused')
}

/** @throws ConfluentError */
export async function policyOf(exchange: Exchange): Promise<CompatibilityPolicy> {
  const { compatibility, ...others } = valid(configBody, await jsonBody(exchange))
  const unknown = Object.entries(others).find(([, value]) => value !== null && value !== false)
  if (unknown !== undefined) throw new ConfluentError(42203, `The setting ${unknown[0]} is unknown here`)
  const policy = compatibilityPolicies.find((known) => levelOf(known) === compatibility?.toUpperCase())
  if (policy !== undefined) return policy
  const levels = compatibilityPolicies.map(levelOf).join(', ')
  throw new ConfluentError(42203, `Invalid compatibility level. Valid values are ${levels}`)
}

/** As Confluent spells it: `BACKWARD_TRANSITIVE`. */
export function levelOf(policy: CompatibilityPolicy): string {
  return policy.toUpperCase().replaceAll('-', '_')
}

export function isOn(query: URLSearchParams, name: string): boolean {
  return query.get(name)?.toLowerCase() === 'true'
}

/** @throws ConfluentError */
export function subjectOf(segment: string): string {
  const problem = schemaNameProblem(segment)
  if (problem === null) return segment
  throw new ConfluentError(42208, `The specified subject '${segment}' is not a valid subject: ${problem}`)
}

/** @throws ConfluentError */
export function versionOf(segment: string): number | 'newest' {
  if (segment === 'latest' || segment === '-1') return 'newest'
  const version = /^\d{1,10}$/.test(segment) ? Number(segment) : 0
  if (version >= 1 && version < 2 ** 31) return version
  throw invalidVersion(segment)
}

/** @throws ConfluentError */
export function schemaIdOf(segment: string): number {
  const schemaId = /^\d{1,10}$/.test(segment) ? Number(segment) : -1
  if (schemaId >= 0 && schemaId < 2 ** 31) return schemaId
  throw new ConfluentError(404, 'HTTP 404 Not Found')
}

async function jsonBody(exchange: Exchange): Promise<unknown> {
  const body = await exchange.body()
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConfluentError(400, 'The body is not JSON')
    throw error
  }
}

function valid<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfluentError(422, problemText(parsed.error))
}
