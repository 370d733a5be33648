import {
  type CompatibilityName,
  type DescribedSchema,
  type SchemaReason,
  type SchemaVersionFacts,
  schemaHeaders,
  schemaMediaTypes,
} from '@pico/http-contract'
import type { DraftRefusal, Incompatible, RegisteredSchema, RemoveSchemaOutcome } from '@pico/schema-registry'
import { badRequest, HttpError } from '../server/http-error.ts'

/** Reasons that an answer tells; a hostile schema has as many as it likes. */
const reasonsMax = 100

export function versionFacts(schema: RegisteredSchema): SchemaVersionFacts {
  return {
    name: schema.name,
    version: schema.version,
    schema_id: schema.schemaId,
    kind: schema.kind,
    references: schema.references.map(({ importName, name, version }) => ({ import_name: importName, name, version })),
    created_at: new Date(schema.createdAtMs).toISOString(),
    deleted: schema.isDeleted,
  }
}

export function described(schema: RegisteredSchema, compatibility: CompatibilityName): DescribedSchema {
  return { ...versionFacts(schema), compatibility, schema: schema.text }
}

/** Of an answer that is the schema's text. */
export function textHeaders(schema: RegisteredSchema): string[] {
  const references = schema.references.map(
    ({ importName, name, version }) =>
      // A header has no other characters, and a comma would end it.
      `${encodeURI(importName).replaceAll(',', '%2C')}=${name}:${version}`,
  )
  return [
    'Content-Type',
    `${schemaMediaTypes[schema.kind][0]}; charset=utf-8`,
    schemaHeaders.schema,
    `${schema.name}:${schema.version}`,
    schemaHeaders.schemaId,
    String(schema.schemaId),
    schemaHeaders.kind,
    schema.kind,
    ...(references.length === 0 ? [] : [schemaHeaders.references, references.join(', ')]),
  ]
}

export function refused(name: string, refusal: DraftRefusal | Incompatible): HttpError {
  switch (refusal.outcome) {
    case 'bad-name':
      return badRequest(refusal.reason)
    case 'too-large':
      return new HttpError('too_large', `the schema is too large: ${refusal.reason}`)
    case 'unknown-reference': {
      const { importName, name: of, version } = refusal.reference
      return new HttpError('invalid_schema', `${importName} refers to ${of}:${version}, which is not there`)
    }
    case 'invalid': {
      const message = `it is no schema: ${inOneLine(refusal.problems)}`
      return new HttpError('invalid_schema', message, { details: { reasons: refusal.problems.slice(0, reasonsMax) } })
    }
    case 'incompatible': {
      const message = `it must not follow what ${name} has (${refusal.policy}): ${inOneLine(refusal.problems)}`
      return new HttpError('incompatible', message, { details: { reasons: reasonsOf(refusal) } })
    }
  }
}

export function reasonsOf({ problems }: Incompatible): SchemaReason[] {
  return problems.slice(0, reasonsMax).map(({ version, path, reason }) => ({ version, path, reason }))
}

function inOneLine(reasons: readonly { readonly path: string; readonly reason: string }[]): string {
  const [first, ...more] = reasons
  if (first === undefined) return 'nobody said why'
  const where = first.path === '' ? '' : `${first.path}: `
  return `${where}${first.reason}${more.length === 0 ? '' : ` (and ${more.length} more)`}`
}

/** Why a schema was not removed; null if it was. */
export function notRemoved(what: string, outcome: RemoveSchemaOutcome): HttpError | null {
  switch (outcome.outcome) {
    case 'removed':
      return null
    case 'missing':
    case 'deleted-already':
      return new HttpError('not_found', `there is no schema ${what}`)
    case 'not-deleted-softly':
      return new HttpError('conflict', `${what} has a version again: somebody registered one meanwhile`)
    case 'bound': {
      const { to, count } = outcome
      const message = `${what} is bound to ${someOf(to, count)} (pico.schema)`
      return new HttpError('in_use', message, { details: { topics: [...to] } })
    }
    case 'referenced': {
      const by = outcome.by.map(({ name, version }) => `${name}:${version}`)
      return new HttpError('in_use', `${what} is imported by ${someOf(by, outcome.count)}`)
    }
  }
}

function someOf(names: readonly string[], count: number): string {
  return `${names.join(', ')}${count > names.length ? ` and ${count - names.length} more` : ''}`
}
