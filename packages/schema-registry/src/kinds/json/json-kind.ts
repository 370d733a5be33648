import { isUtf8 } from 'node:buffer'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { SchemaProblem, SchemaSource } from '../../schema.ts'
import { canonicalText } from '../canonical-text.ts'
import {
  type Compilation,
  type CompiledSchema,
  refusals,
  type SchemaKindRules,
  SchemaRefusal,
  type ValueProblem,
} from '../schema-kind.ts'
import { compileFlatSchema, type JsonCheck } from './compile-flat-schema.ts'
import { type FlatSchema, flattenSchema } from './flatten-schema.ts'
import type { Json, JsonObject } from './json-dialects.ts'
import { type LocatedSchema, SchemaDocuments } from './json-documents.ts'
import { jsonIncompatibilities } from './json-incompatibilities.ts'

/**
 * JSON Schema, drafts 2020-12 and 07; 07 for a schema that does not say, as in Confluent's registry. `format` and `content*` say
 * nothing of a value. References lead to the references given, by their `$id` or the name that they are given under.
 */
export function createJsonKind({ maxJsonValueBytes }: { readonly maxJsonValueBytes: number }): SchemaKindRules {
  const metaSchemas = standardMetaSchemas()
  /** What is compiled of the two drafts' own schemas. */
  const standardChecks = new Map<string, JsonCheck>()

  function read(source: SchemaSource): { readonly json: Json; readonly flat: FlatSchema } {
    const json = parseText(source.text, '')
    const texts = new Map(
      source.references.map(({ importName, text }) => [importName, parseText(text, `${importName}#`)]),
    )
    const documents = new SchemaDocuments(texts, metaSchemas)
    const root = documents.addAll(json)
    // The references too: a keyword of the wrong type would otherwise say nothing, or anything.
    for (const document of documents.given()) checkAgainstMetaSchema(document, documents)
    return { json, flat: flattenSchema(root, documents) }
  }

  function checkAgainstMetaSchema(document: LocatedSchema, documents: SchemaDocuments): void {
    const { dialect } = document.resource
    let check = standardChecks.get(dialect.uri)
    if (check === undefined) {
      check = compileFlatSchema(flattenSchema(documents.metaSchemaOf(dialect), documents))
      if (metaSchemas.has(dialect.uri)) standardChecks.set(dialect.uri, check)
    }
    const problem = check(document.schema)
    if (problem !== null) throw new SchemaRefusal(document.path + problem.path, problem.reason)
  }

  function compile(source: SchemaSource): CompiledSchema {
    const { json, flat } = read(source)
    const check = compileFlatSchema(flat)
    return { canonical: canonicalText(json), validate: (bytes) => validateJson(bytes, check, maxJsonValueBytes) }
  }

  return {
    compile(source): Compilation {
      const outcome = refusals(() => compile(source))
      return 'done' in outcome ? { compiled: outcome.done } : outcome
    },
    incompatibilities(reader, writer): readonly SchemaProblem[] {
      const outcome = refusals(() => jsonIncompatibilities(read(reader).flat, read(writer).flat))
      return 'done' in outcome ? outcome.done : outcome.problems
    },
  }
}

function validateJson(bytes: Uint8Array, check: JsonCheck, maxBytes: number): ValueProblem | null {
  if (bytes.length > maxBytes) return { path: '', reason: `${bytes.length} bytes, where validation takes ${maxBytes}` }
  if (!isUtf8(bytes)) return { path: '', reason: 'not UTF-8' }
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { path: '', reason: `not JSON: ${error.message.slice(0, 200)}` }
  }
  return check(value)
}

function parseText(text: string, path: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SchemaRefusal(path, `not JSON: ${error.message.slice(0, 200)}`)
  }
}

/** ajv brings them along. */
function standardMetaSchemas(): ReadonlyMap<string, JsonObject> {
  return new Map(
    [new Ajv(), new Ajv2020()].flatMap(({ schemas }) =>
      Object.entries(schemas).map(([uri, environment]) => [uri, environment?.schema as JsonObject] as const),
    ),
  )
}
