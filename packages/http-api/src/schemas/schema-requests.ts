import {
  mediaTypeOf,
  type NamedReference,
  problemText,
  type SchemaKindName,
  schemaKindNames,
  schemaMediaTypes,
} from '@pico/http-contract'
import type { SchemaDraft } from '@pico/schema-registry'
import type { z } from 'zod'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, HttpError } from '../server/http-error.ts'

/** The parameters that a schema knows; each at most once, but for those that are lists. @throws HttpError 400 */
export function schemaQueryOf<S extends z.ZodObject>(schema: S, exchange: Exchange): z.output<S> {
  const given: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(exchange.queryText)) {
    if (!Object.hasOwn(schema.shape, name)) continue
    const before = given[name]
    if (name === 'reference') given[name] = [...(before ?? []), value]
    else if (before === undefined) given[name] = value
    else throw badRequest(`${name}: is given twice`)
  }
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw badRequest(problemText(parsed.error))
  return parsed.data
}

/** The schema in the body of a request. @throws HttpError 400, 413, 415 */
export async function draftOf(
  exchange: Exchange,
  query: { readonly kind?: SchemaKindName | undefined; readonly reference: readonly NamedReference[] },
): Promise<SchemaDraft> {
  const kind = query.kind ?? kindOf(exchange.header('content-type'))
  const text = textOf(await exchange.body())
  if (text === '') throw badRequest('the body is the schema; there is none')
  const references = query.reference.map(({ import_name: importName, name, version }) => ({
    importName,
    name,
    version,
  }))
  return { kind, text, references }
}

function kindOf(contentType: string | undefined): SchemaKindName {
  const given = mediaTypeOf(contentType ?? '')
  const kind = schemaKindNames.find((name) => schemaMediaTypes[name].includes(given))
  if (kind !== undefined) return kind
  const known = schemaKindNames.map((name) => schemaMediaTypes[name][0]).join(', ')
  throw new HttpError(
    'unsupported_media_type',
    `which kind of schema is it? Say ?kind=${schemaKindNames.join('|')}, or a Content-Type of ${known}`,
  )
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    if (error instanceof TypeError) throw badRequest('the schema is not UTF-8')
    throw error
  }
}
