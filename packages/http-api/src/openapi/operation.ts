import { errorBodySchema, errorStatuses } from '@pico/http-contract'
import { z } from 'zod'

/** A request that the server answers, in terms of what it checks requests and makes answers with. */
export interface Operation {
  readonly method: 'get' | 'put' | 'post' | 'head' | 'delete'
  /** As OpenAPI writes it. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly tag: string
  /** Where it is served. */
  readonly server: string
  readonly query?: z.ZodObject
  /** Request headers by their names in lower case. */
  readonly headers?: z.ZodObject
  /** By media type; `bytes`: whatever it is. */
  readonly body?: Readonly<Record<string, z.ZodType | 'bytes'>>
  readonly answers: Readonly<Record<number, AnswerForm>>
  /** Error statuses it may answer besides, with the usual body, and the headers that come with them. */
  readonly errors: Readonly<Record<number, readonly string[]>>
}

export interface AnswerForm {
  readonly description: string
  /** Names of headers that it may carry. */
  readonly headers?: readonly string[]
  /** By media type; none: no body. */
  readonly body?: Readonly<Record<string, z.ZodType | 'bytes' | 'text' | 'object'>>
}

type Json = Readonly<Record<string, unknown>>

/** An Operation Object of OpenAPI 3.1, whose schemas are JSON Schema 2020-12. */
export function operationObject(operation: Operation): Json {
  const { operationId, summary, tag, server, body, answers, errors } = operation
  const responses = Object.entries(answers).map(([status, form]) => [status, responseObject(form)])
  const failures = Object.entries(errors).map(([status, headers]) => [status, failureObject(status, headers)])
  return {
    operationId,
    summary,
    tags: [tag],
    servers: [{ url: server }],
    parameters: parametersOf(operation),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(body, 'input') } }),
    responses: Object.fromEntries([...responses, ...failures, ['default', anyOtherFailure]]),
  }
}

function parametersOf({ path, query, headers }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const description = 'Percent-encoded, but for its slashes'
    return { name, in: 'path', required: true, description, schema: { type: 'string' } }
  })
  return [...inPath, ...fieldsOf(query, 'query'), ...fieldsOf(headers, 'header')]
}

function fieldsOf(schema: z.ZodObject | undefined, where: 'query' | 'header'): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: field,
  }))
}

function responseObject({ description, headers = [], body, content }: AnswerForm & { readonly content?: Json }): Json {
  return {
    description,
    ...(headers.length === 0 ? {} : { headers: headersObject(headers) }),
    ...(body === undefined ? {} : { content: contentOf(body, 'output') }),
    ...(content === undefined ? {} : { content }),
  }
}

function headersObject(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }]))
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

/** Broken requests, such as headers that are too large, and what is our fault. */
const anyOtherFailure = { description: 'Whatever else went wrong', content: errorContent }

function failureObject(status: string, headers: readonly string[]): Json {
  const codes = Object.entries(errorStatuses).filter(([, of]) => String(of) === status)
  const description = codes.map(([code]) => code).join(' or ') || 'not_owner: another node has the stream'
  return responseObject({ description, headers, content: errorContent })
}

export function components(): Json {
  return { schemas: { Error: jsonSchema(errorBodySchema, 'output') } }
}

function contentOf(body: NonNullable<AnswerForm['body']>, io: 'input' | 'output'): Json {
  return Object.fromEntries(
    Object.entries(body).map(([mediaType, form]) => [
      mediaType,
      typeof form === 'string' ? plain[form] : { schema: jsonSchema(form, io) },
    ]),
  )
}

const plain = { bytes: {}, text: { schema: { type: 'string' } }, object: { schema: { type: 'object' } } } as const

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
