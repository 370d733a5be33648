import { definitionNumber } from './flatten-schema.ts'
import { draft202012, type Json, type JsonObject, type JsonSchema } from './json-dialects.ts'
import { isObject } from './json-documents.ts'
import { isEvaluating } from './written-values.ts'

/** Keywords whose schemas hold for the value itself, or are held to its items to see which of them are: what is evaluated depends on them. */
const branchKeywords: ReadonlySet<string> = new Set(
  'allOf anyOf oneOf if then else dependentSchemas contains unevaluatedItems unevaluatedProperties'.split(' '),
)

/**
 * The same definitions, for ajv: with a pattern for a property `__proto__`, which ajv passes over otherwise; and where it matters
 * what is evaluated, with every branch as a definition of its own, so that it can be asked for by number (see evaluated-parts.ts).
 */
export function definitionsForAjv(definitions: readonly JsonSchema[]): readonly JsonSchema[] {
  const evaluating = evaluatingDefinitions(definitions)
  const result: JsonSchema[] = definitions.map(() => true)
  const addBranch = (schema: JsonSchema): JsonSchema => {
    if (typeof schema === 'boolean' || isReference(schema)) return schema
    return { $ref: `#/$defs/${result.push(schema) - 1}` }
  }
  definitions.forEach((definition, number) => {
    result[number] = rewrite(definition, evaluating.has(number), addBranch)
  })
  return result
}

/** Those that say something of what is not evaluated, and those that these refer to. */
function evaluatingDefinitions(definitions: readonly JsonSchema[]): ReadonlySet<number> {
  const found = new Set<number>()
  const visit = (schema: JsonSchema, isWithin: boolean): void => {
    if (typeof schema === 'boolean') return
    const isInteresting = isWithin || isEvaluating(schema)
    if (isInteresting && typeof schema['$ref'] === 'string') {
      const number = definitionNumber(schema['$ref'])
      if (!found.has(number)) {
        found.add(number)
        visit(definitions[number] ?? true, true)
      }
    }
    eachSubschema(schema, (child, keyword) => visit(child, isInteresting && branchKeywords.has(keyword)))
  }
  definitions.forEach((definition, number) => {
    visit(definition, found.has(number))
  })
  return found
}

function rewrite(schema: JsonSchema, isWithin: boolean, addBranch: (schema: JsonSchema) => JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const isInteresting = isWithin || isEvaluating(schema)
  const rewritten = mapSubschemas(schema, (child, keyword) => {
    const isBranch = isInteresting && branchKeywords.has(keyword)
    const inner = rewrite(child, isBranch, addBranch)
    return isBranch ? addBranch(inner) : inner
  })
  return withProtoPattern(rewritten)
}

function withProtoPattern(schema: JsonObject): JsonObject {
  const { properties, patternProperties } = schema
  if (!isObject(properties) || !Object.hasOwn(properties, '__proto__')) return schema
  const ofProto = Object.entries(properties).find(([name]) => name === '__proto__')?.[1] ?? true
  return {
    ...schema,
    patternProperties: { ...(isObject(patternProperties) ? patternProperties : {}), '^__proto__$': ofProto },
  }
}

function mapSubschemas(schema: JsonObject, map: (child: JsonSchema, keyword: string) => JsonSchema): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, Json] => {
      switch (draft202012.keywords.get(keyword)) {
        case 'schema':
          return [keyword, map(value as JsonSchema, keyword)]
        case 'schemas':
          return [keyword, (value as readonly JsonSchema[]).map((child) => map(child, keyword))]
        case 'schemaMap': {
          const children = Object.entries(value as Readonly<Record<string, JsonSchema>>)
          return [keyword, Object.fromEntries(children.map(([key, child]) => [key, map(child, keyword)]))]
        }
        default:
          return [keyword, value]
      }
    }),
  )
}

function eachSubschema(schema: JsonObject, visit: (child: JsonSchema, keyword: string) => void): void {
  mapSubschemas(schema, (child, keyword) => {
    visit(child, keyword)
    return child
  })
}

function isReference(schema: JsonObject): boolean {
  return typeof schema['$ref'] === 'string' && Object.keys(schema).length === 1
}
