import {
  type CompatibilityName,
  type DescribedSchema,
  describedSchemaSchema,
  type ListedSchema,
  type PutSchema,
  putSchemaSchema,
  type SchemaCheck,
  type SchemaKindName,
  type SchemaVersionFacts,
  schemaCheckSchema,
  schemaListingSchema,
  schemasPath,
  schemaVersionsSchema,
} from '@pico/http-contract'
import { PicoError } from './errors.ts'
import type { CallOptions } from './pico-stream.ts'
import { type Call, deleteOnce, type Transport } from './transport.ts'

export interface SchemaText {
  readonly kind: SchemaKindName
  readonly text: string
  /** What the text imports: `common.proto=common:1`, or `common:1` where it calls it `common`. */
  readonly references?: readonly string[]
}

export interface PutSchemaOptions extends CallOptions {
  /** Becomes the policy of the name, and counts already. */
  readonly compatibility?: CompatibilityName
}

export interface DeletedToo extends CallOptions {
  /** Also what is deleted, but not for good. */
  readonly deleted?: boolean
}

/** The named schemas of a server, or a cluster. */
export class PicoSchemas {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Registers a version. `created` is false when there was one that means the same: that one is answered.
   * @throws PicoError 'invalid_schema', 'incompatible': its `reasons` say why
   */
  put(
    name: string,
    schema: SchemaText,
    options: PutSchemaOptions = {},
  ): Promise<PutSchema & { readonly created: boolean }> {
    const query = queryOf(schema, { compatibility: options.compatibility })
    const call = schemaCall('PUT', pathOf(name), query, options.signal, schema.text)
    return this.#transport.call(call, async ({ status, body }) => ({
      ...understood(putSchemaSchema, await body.json()),
      created: status === 201,
    }))
  }

  /** The newest version, or that one. @throws PicoError 'not_found' */
  get(name: string, version: number | null = null, options: DeletedToo = {}): Promise<DescribedSchema> {
    const query = new URLSearchParams({ format: 'json', ...deletedQuery(options) })
    const call = schemaCall('GET', pathOf(name, version ?? 'latest'), query, options.signal)
    return this.#transport.call(call, async ({ body }) => understood(describedSchemaSchema, await body.json()))
  }

  /** Every name with its newest version, in byte order. */
  async *list(options: DeletedToo & { readonly prefix?: string } = {}): AsyncGenerator<ListedSchema, void, undefined> {
    for (let after: string | undefined; ; ) {
      const query = new URLSearchParams({ prefix: options.prefix ?? '', limit: '1000', ...deletedQuery(options) })
      if (after !== undefined) query.set('start_after', after)
      const call = schemaCall('GET', schemasPath, query, options.signal)
      const page = await this.#transport.call(call, async ({ body }) =>
        understood(schemaListingSchema, await body.json()),
      )
      yield* page.schemas
      after = page.schemas.at(-1)?.name
      if (!page.has_more || after === undefined) return
    }
  }

  /** Every version of a name, the oldest first. @throws PicoError 'not_found' */
  async *versions(name: string, options: DeletedToo = {}): AsyncGenerator<SchemaVersionFacts, void, undefined> {
    for (let after = 0; ; ) {
      const query = new URLSearchParams({ start_after: String(after), limit: '1000', ...deletedQuery(options) })
      const call = schemaCall('GET', pathOf(name, 'versions'), query, options.signal)
      const page = await this.#transport.call(call, async ({ body }) =>
        understood(schemaVersionsSchema, await body.json()),
      )
      yield* page.versions
      after = page.versions.at(-1)?.version ?? 0
      if (!page.has_more) return
    }
  }

  /** Whether it could be put, or would get along with that version alone. @throws PicoError 'invalid_schema' */
  check(
    name: string,
    schema: SchemaText,
    options: CallOptions & { readonly version?: number } = {},
  ): Promise<SchemaCheck> {
    const query = queryOf(schema, { version: options.version })
    const call = schemaCall('POST', pathOf(name, 'check'), query, options.signal, schema.text)
    return this.#transport.call(call, async ({ body }) => understood(schemaCheckSchema, await body.json()))
  }

  /**
   * Deletes a version, or all that a name has (null): it is offered no more, but what was written with it can still be read; `permanent`
   * takes that too. @throws PicoError 'not_found', 'in_use'
   */
  delete(
    name: string,
    version: number | null = null,
    options: CallOptions & { readonly permanent?: boolean } = {},
  ): Promise<void> {
    const path = version === null ? pathOf(name) : pathOf(name, version)
    const query = new URLSearchParams(options.permanent === true ? { permanent: 'true' } : {})
    return deleteOnce(this.#transport, schemaCall('DELETE', path, query, options.signal))
  }
}

function pathOf(name: string, what?: string | number): string {
  const path = `${schemasPath}/${encodeURIComponent(name)}`
  return what === undefined ? path : `${path}/${what}`
}

function queryOf(schema: SchemaText, more: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams({ kind: schema.kind })
  for (const reference of schema.references ?? []) query.append('reference', reference)
  for (const [name, value] of Object.entries(more)) if (value !== undefined) query.set(name, String(value))
  return query
}

function deletedQuery({ deleted }: DeletedToo): Record<string, string> {
  return deleted === true ? { deleted: 'true' } : {}
}

/** All of them may be repeated: what was put is found to be there. */
function schemaCall(
  method: Call['method'],
  path: string,
  query: URLSearchParams,
  signal: AbortSignal | undefined,
  text?: string,
): Call {
  return {
    method,
    path: query.size === 0 ? path : `${path}?${query}`,
    ...(text === undefined ? {} : { body: Buffer.from(text) }),
    stream: null,
    sharing: { kind: method === 'GET' ? 'read' : 'alone' },
    repeatable: true,
    signal,
  }
}

interface AnswerSchema<T> {
  safeParse(given: unknown): { success: true; data: T } | { success: false; error: Error }
}

function understood<T>(schema: AnswerSchema<T>, given: unknown): T {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new PicoError('bad_response', `the answer is not as the protocol has it: ${parsed.error.message}`)
}
