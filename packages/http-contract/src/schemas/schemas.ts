import { z } from 'zod'
import { trueOrFalse } from '../integers.ts'
import { listQuerySchema } from '../read-query.ts'

/** Under which named schemas are kept: `/_schemas/orders`, `/_schemas/orders/3`. */
export const schemasPath = '/_schemas'

export const schemaKindNames = ['json', 'avro', 'protobuf'] as const

export const compatibilityNames = [
  'none',
  'backward',
  'backward-transitive',
  'forward',
  'forward-transitive',
  'full',
  'full-transitive',
] as const

/** What a body is taken for where the query does not say `kind`, by its Content-Type; and, the first of each, as what it is given back. */
export const schemaMediaTypes: Readonly<Record<(typeof schemaKindNames)[number], readonly [string, ...string[]]>> = {
  json: ['application/schema+json', 'application/json'],
  avro: ['application/vnd.apache.avro+json', 'application/avro', 'application/avro+json'],
  protobuf: [
    'text/x-protobuf',
    'text/protobuf',
    'application/protobuf',
    'application/x-protobuf',
    'application/vnd.google.protobuf',
  ],
}

/** Of answers that are a schema's text. */
export const schemaHeaders = {
  /** `orders:3` */
  schema: 'Pico-Schema',
  schemaId: 'Pico-Schema-Id',
  kind: 'Pico-Schema-Kind',
  /** `common.proto=common:1, …`: what the text imports, as the query has it. */
  references: 'Pico-Schema-References',
} as const

const count = z.number().int().nonnegative()
const kind = z.enum(schemaKindNames, `is none of ${schemaKindNames.join(', ')}`)
const compatibility = z.enum(compatibilityNames, `is none of ${compatibilityNames.join(', ')}`)

export const schemaReferenceSchema = z.object({
  /** What the text calls it. */
  import_name: z.string(),
  name: z.string(),
  version: count,
})
export type NamedReference = z.infer<typeof schemaReferenceSchema>

/** `common.proto=common:1`, or `common:1` where the text calls it `common`. */
const reference = z.string().transform((text, context): NamedReference => {
  const [, importName, name, version] = /^(?:(.+)=)?([A-Za-z0-9._-]{1,249}):([1-9]\d{0,8})$/.exec(text) ?? []
  if (name !== undefined) return { import_name: importName ?? name, name, version: Number(version) }
  context.addIssue({ code: 'custom', message: 'is not <what the text calls it>=<name>:<version>' })
  return z.NEVER
})

/** `POST /_schemas/{name}/check?…`: its body is a schema, and all else that there is to say of it stands in the query. */
export const schemaCheckQuerySchema = z.object({
  /** Without it, the Content-Type says. */
  kind: kind.optional(),
  /** May be given more than once. */
  reference: z.array(reference).default([]),
  /** Check against that version alone. */
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'is not the number of a version')
    .transform(Number)
    .optional(),
})

/** `PUT /_schemas/{name}?…` */
export const schemaPutQuerySchema = schemaCheckQuerySchema.omit({ version: true }).extend({
  /** Becomes the name's policy, and counts already. */
  compatibility: compatibility.optional(),
})

/** `GET /_schemas/{name}[/{version}]?…` */
export const schemaGetQuerySchema = z.object({
  /** `text`: the schema itself. `json`: what is known of it, text included. */
  format: z.enum(['text', 'json'], 'is none of text, json').default('text'),
  /** Find also what is deleted, but not for good. */
  deleted: trueOrFalse.default(false),
})

/** `DELETE /_schemas/{name}[/{version}]?…` */
export const schemaDeleteQuerySchema = z.object({
  /** For good: it cannot be read any more by its number or id. */
  permanent: trueOrFalse.default(false),
})

/** `GET /_schemas?…` */
export const schemaListQuerySchema = listQuerySchema.extend({ deleted: trueOrFalse.default(false) })

/** `GET /_schemas/{name}/versions?…` */
export const schemaVersionsQuerySchema = z.object({
  start_after: z
    .string()
    .regex(/^\d{1,9}$/, 'is not the number of a version')
    .transform(Number)
    .default(0),
  limit: listQuerySchema.shape.limit,
  deleted: trueOrFalse.default(false),
})

/** A version of a schema, without its text. */
export const schemaVersionSchema = z.object({
  name: z.string(),
  version: count,
  /** What Confluent's serializers write before a value: the same for versions that mean the same. */
  schema_id: count,
  kind,
  references: z.array(schemaReferenceSchema),
  /** RFC 3339. */
  created_at: z.string(),
  deleted: z.boolean(),
})

/** The policy in force for a name. */
const withCompatibility = { compatibility }

/** Answer of `PUT`. */
export const putSchemaSchema = schemaVersionSchema.extend(withCompatibility)
/** `GET …?format=json` */
export const describedSchemaSchema = schemaVersionSchema.extend({ ...withCompatibility, schema: z.string() })

export const listedSchemaSchema = z.object({
  name: z.string(),
  /** The newest. */
  version: count,
  schema_id: count,
  kind,
  /** Absent where the name has none of its own. */
  compatibility: compatibility.optional(),
  deleted: z.boolean(),
})
export const schemaListingSchema = z.object({ schemas: z.array(listedSchemaSchema), has_more: z.boolean() })
export const schemaVersionsSchema = z.object({ versions: z.array(schemaVersionSchema), has_more: z.boolean() })

/** Why one schema must not follow another, or is none. */
export const schemaReasonSchema = z.object({
  /** Of the version that it does not go with; absent where it is wrong by itself. */
  version: count.optional(),
  /** Where in the schema; empty for all of it. */
  path: z.string(),
  reason: z.string(),
})

/** Answer of `POST /_schemas/{name}/check`. */
export const schemaCheckSchema = z.object({
  compatible: z.boolean(),
  ...withCompatibility,
  reasons: z.array(schemaReasonSchema),
})

export type SchemaKindName = (typeof schemaKindNames)[number]
export type CompatibilityName = (typeof compatibilityNames)[number]
export type PutSchema = z.infer<typeof putSchemaSchema>
export type DescribedSchema = z.infer<typeof describedSchemaSchema>
export type ListedSchema = z.infer<typeof listedSchemaSchema>
export type SchemaVersionFacts = z.infer<typeof schemaVersionSchema>
export type SchemaReason = z.infer<typeof schemaReasonSchema>
export type SchemaCheck = z.infer<typeof schemaCheckSchema>
