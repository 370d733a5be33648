import {
  mediaTypes,
  schemaCheckQuerySchema,
  schemaDeleteQuerySchema,
  schemaGetQuerySchema,
  schemaListQuerySchema,
  schemaPutQuerySchema,
  schemasPath,
  schemaVersionsQuerySchema,
} from '@pico/http-contract'
import { type RegisteredSchema, type SchemaRegistry, schemaNameProblem } from '@pico/schema-registry'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, HttpError } from '../server/http-error.ts'
import { methodNotAllowed } from '../server/http-server.ts'
import { described, notRemoved, reasonsOf, refused, textHeaders, versionFacts } from './schema-answers.ts'
import { draftOf, schemaQueryOf } from './schema-requests.ts'

/*
 * Named schemas: /_schemas, /_schemas/{name}, /_schemas/{name}/{version}, /_schemas/{name}/versions and /_schemas/{name}/check. A body is
 * the schema's own text, and so is the answer to GET; all else that there is to say stands in the query and in headers. Every node
 * serves all of it, as schemas are in the database.
 */

export function isSchemasPath(path: string): boolean {
  return path === schemasPath || path.startsWith(`${schemasPath}/`)
}

export async function serveSchemas(exchange: Exchange, registry: SchemaRegistry): Promise<void> {
  exchange.route = 'schema'
  const [name, what, ...more] = segmentsOf(exchange.path)
  const { method } = exchange
  const isRead = method === 'GET' || method === 'HEAD'
  if (more.length > 0) throw nothingHere()
  if (name === undefined) {
    if (isRead) return list(exchange, registry)
    throw methodNotAllowed(method, 'GET, HEAD, OPTIONS')
  }
  const problem = schemaNameProblem(name)
  if (problem !== null) throw badRequest(problem)
  switch (what) {
    case undefined:
      if (method === 'PUT') return put(exchange, registry, name)
      if (isRead) return get(exchange, registry, name, 'newest')
      if (method === 'DELETE') return remove(exchange, registry, name, null)
      throw methodNotAllowed(method, 'GET, HEAD, PUT, DELETE, OPTIONS')
    case 'check':
      if (method === 'POST') return check(exchange, registry, name)
      throw methodNotAllowed(method, 'POST, OPTIONS')
    case 'versions':
      if (isRead) return versions(exchange, registry, name)
      throw methodNotAllowed(method, 'GET, HEAD, OPTIONS')
    default: {
      const version = versionOf(what)
      if (isRead) return get(exchange, registry, name, version)
      if (method === 'DELETE') return remove(exchange, registry, name, version === 'newest' ? null : version)
      throw methodNotAllowed(method, 'GET, HEAD, DELETE, OPTIONS')
    }
  }
}

async function put(exchange: Exchange, registry: SchemaRegistry, name: string): Promise<void> {
  const query = schemaQueryOf(schemaPutQuerySchema, exchange)
  const outcome = await registry.put(name, await draftOf(exchange, query), query.compatibility)
  if (outcome.outcome !== 'registered') throw refused(name, outcome)
  const { schema, isNew } = outcome
  const body = { ...versionFacts(schema), compatibility: await policyOf(registry, name) }
  answer(exchange, isNew ? 201 : 200, body, ['Location', `${schemasPath}/${name}/${schema.version}`])
}

async function get(
  exchange: Exchange,
  registry: SchemaRegistry,
  name: string,
  version: number | 'newest',
): Promise<void> {
  const { format, deleted } = schemaQueryOf(schemaGetQuerySchema, exchange)
  const schema = await found(registry, name, version, deleted)
  if (schema === null) throw missing(name, version)
  if (format === 'json') answer(exchange, 200, described(schema, await policyOf(registry, name)))
  else exchange.respond(200, [...textHeaders(schema), ...notKept], schema.text)
}

async function versions(exchange: Exchange, registry: SchemaRegistry, name: string): Promise<void> {
  const { start_after: after, limit, deleted } = schemaQueryOf(schemaVersionsQuerySchema, exchange)
  const page = await registry.versions(name, { after, limit: limit + 1, deleted })
  if (page.length === 0 && after === 0) throw missing(name, 'newest')
  answer(exchange, 200, { versions: page.slice(0, limit).map(versionFacts), has_more: page.length > limit })
}

async function list(exchange: Exchange, registry: SchemaRegistry): Promise<void> {
  const { prefix, start_after: after = null, limit, deleted } = schemaQueryOf(schemaListQuerySchema, exchange)
  const page = await registry.list({ prefix, after, limit: limit + 1, deleted })
  const schemas = page.slice(0, limit).map(({ name, version, schemaId, kind, policy, isDeleted }) => ({
    name,
    version,
    schema_id: schemaId,
    kind,
    ...(policy === null ? {} : { compatibility: policy }),
    deleted: isDeleted,
  }))
  answer(exchange, 200, { schemas, has_more: page.length > limit })
}

async function check(exchange: Exchange, registry: SchemaRegistry, name: string): Promise<void> {
  const query = schemaQueryOf(schemaCheckQuerySchema, exchange)
  const outcome = await registry.check(name, await draftOf(exchange, query), query.version)
  switch (outcome.outcome) {
    case 'compatible':
      return answer(exchange, 200, { compatible: true, compatibility: outcome.policy, reasons: [] })
    case 'incompatible':
      return answer(exchange, 200, { compatible: false, compatibility: outcome.policy, reasons: reasonsOf(outcome) })
    case 'missing':
      throw missing(name, query.version ?? 'newest')
    default:
      throw refused(name, outcome)
  }
}

/** For good is softly first: what may not go softly may not go at all. */
async function remove(
  exchange: Exchange,
  registry: SchemaRegistry,
  name: string,
  version: number | null,
): Promise<void> {
  const { permanent } = schemaQueryOf(schemaDeleteQuerySchema, exchange)
  const what = version === null ? name : `${name}:${version}`
  const softly = await registry.remove(name, version, 'soft')
  const problem = permanent && softly.outcome === 'deleted-already' ? null : notRemoved(what, softly)
  if (problem !== null) throw problem
  if (permanent) {
    const finally_ = notRemoved(what, await registry.remove(name, version, 'final'))
    if (finally_ !== null) throw finally_
  }
  exchange.respond(204, [])
}

async function found(
  registry: SchemaRegistry,
  name: string,
  version: number | 'newest',
  deleted: boolean,
): Promise<RegisteredSchema | null> {
  const schema = await registry.get(name, version)
  return schema?.isDeleted === true && !deleted ? null : schema
}

async function policyOf(registry: SchemaRegistry, name: string) {
  const { own, common } = await registry.policies(name)
  return own ?? common
}

/** What a name has may change at any time. */
const notKept = ['Cache-Control', 'no-cache']

function answer(exchange: Exchange, status: number, body: object, headers: readonly string[] = []): void {
  exchange.respond(status, [...headers, 'Content-Type', mediaTypes.json, ...notKept], JSON.stringify(body))
}

function segmentsOf(path: string): string[] {
  const rest = path.slice(schemasPath.length + 1)
  if (rest === '') return []
  try {
    return rest.split('/').map(decodeURIComponent)
  } catch (error) {
    if (error instanceof URIError) throw badRequest('the path is not percent-encoded UTF-8')
    throw error
  }
}

function versionOf(text: string): number | 'newest' {
  if (text === 'latest') return 'newest'
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw nothingHere()
}

function nothingHere(): HttpError {
  return new HttpError('not_found', 'there is nothing at this path')
}

function missing(name: string, version: number | 'newest'): HttpError {
  return new HttpError('not_found', `there is no schema ${version === 'newest' ? name : `${name}:${version}`}`)
}
