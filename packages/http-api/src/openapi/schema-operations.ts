import {
  describedSchemaSchema,
  mediaTypes,
  putSchemaSchema,
  schemaCheckQuerySchema,
  schemaCheckSchema,
  schemaDeleteQuerySchema,
  schemaGetQuerySchema,
  schemaHeaders,
  schemaListingSchema,
  schemaListQuerySchema,
  schemaMediaTypes,
  schemaPutQuerySchema,
  schemasPath,
  schemaVersionsQuerySchema,
  schemaVersionsSchema,
} from '@pico/http-contract'
import type { AnswerForm, Operation } from './operation.ts'

const name = `${schemasPath}/{schema}`
const version = `${name}/{version}`

/** Storage or metadata that do not answer; or what no request about a schema should be. */
const any = { 400: [], 503: ['Retry-After'] } as const

const texts: Readonly<Record<string, 'bytes'>> = Object.fromEntries(
  Object.values(schemaMediaTypes)
    .flat()
    .map((mediaType) => [mediaType, 'bytes']),
)

const text: AnswerForm = {
  description: 'Its text; with format=json what is known of it',
  headers: Object.values(schemaHeaders),
  body: {
    ...Object.fromEntries(Object.values(schemaMediaTypes).map(([mediaType]) => [mediaType, 'bytes' as const])),
    [mediaTypes.json]: describedSchemaSchema,
  },
}

/** Named schemas, in terms of the schemas by which requests about them are read. */
export function schemaOperations(server: string): Operation[] {
  const common = { tag: 'schemas', server }
  return [
    {
      ...common,
      method: 'get',
      path: schemasPath,
      operationId: 'schemas.list',
      summary: 'Names of schemas, each with its newest version, a page at a time',
      query: schemaListQuerySchema,
      answers: { 200: { description: 'A page', body: { [mediaTypes.json]: schemaListingSchema } } },
      errors: any,
    },
    {
      ...common,
      method: 'put',
      path: name,
      operationId: 'schemas.put',
      summary: 'Registers the body as a version, if the policy of the name allows',
      query: schemaPutQuerySchema,
      body: texts,
      answers: {
        200: {
          description: 'There was a version that means the same',
          headers: ['Location'],
          body: { [mediaTypes.json]: putSchemaSchema },
        },
        201: { description: 'It was registered', headers: ['Location'], body: { [mediaTypes.json]: putSchemaSchema } },
      },
      errors: { ...any, 409: [], 413: [], 415: [], 422: [] },
    },
    {
      ...common,
      method: 'get',
      path: name,
      operationId: 'schemas.newest',
      summary: 'The newest version',
      query: schemaGetQuerySchema,
      answers: { 200: text },
      errors: { ...any, 404: [] },
    },
    {
      ...common,
      method: 'delete',
      path: name,
      operationId: 'schemas.deleteAll',
      summary: 'Deletes all versions of a name, unless topics are bound to one or schemas import one',
      query: schemaDeleteQuerySchema,
      answers: { 204: { description: 'They are offered no more' } },
      errors: { ...any, 404: [], 409: [] },
    },
    {
      ...common,
      method: 'get',
      path: version,
      operationId: 'schemas.version',
      summary: 'A version, or the latest one',
      query: schemaGetQuerySchema,
      answers: { 200: text },
      errors: { ...any, 404: [] },
    },
    {
      ...common,
      method: 'delete',
      path: version,
      operationId: 'schemas.delete',
      summary: 'Deletes a version, unless topics are bound to it or schemas import it',
      query: schemaDeleteQuerySchema,
      answers: { 204: { description: 'It is offered no more' } },
      errors: { ...any, 404: [], 409: [] },
    },
    {
      ...common,
      method: 'get',
      path: `${name}/versions`,
      operationId: 'schemas.versions',
      summary: 'Versions of a name, the oldest first, a page at a time',
      query: schemaVersionsQuerySchema,
      answers: { 200: { description: 'A page', body: { [mediaTypes.json]: schemaVersionsSchema } } },
      errors: { ...any, 404: [] },
    },
    {
      ...common,
      method: 'post',
      path: `${name}/check`,
      operationId: 'schemas.check',
      summary: 'Whether the body could be registered, or gets along with one version',
      query: schemaCheckQuerySchema,
      body: texts,
      answers: {
        200: { description: 'Whether, and why not', body: { [mediaTypes.json]: schemaCheckSchema } },
      },
      errors: { ...any, 404: [], 413: [], 415: [], 422: [] },
    },
  ]
}
