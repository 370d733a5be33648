/** The keywords of the JSON Schema drafts that we know, and where in each of them schemas are. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}
export type JsonSchema = boolean | JsonObject

/**
 * What stands under a keyword. `asserts`: a value. `schema`, `schemas`, `schemaMap`: one, an array, an object of them. `holds`: an
 * object of them that says nothing by itself, but may be referred to. The last two are of draft 07 only: one schema or an array;
 * an object of schemas and arrays of names.
 */
export type KeywordShape = 'asserts' | 'schema' | 'schemas' | 'schemaMap' | 'holds' | 'itemsOfDraft07' | 'dependencies'

export interface JsonDialect {
  readonly draft: '07' | '2020-12'
  /** The URI of its meta-schema, which its schemas are valid against. */
  readonly uri: string
  readonly keywords: ReadonlyMap<string, KeywordShape>
}

const draft07Uri = 'http://json-schema.org/draft-07/schema'
const draft202012Uri = 'https://json-schema.org/draft/2020-12/schema'

const assertions = words(
  `type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern
  maxItems minItems uniqueItems maxProperties minProperties required`,
).map((word) => [word, 'asserts'] as const)

const applicators: readonly (readonly [string, KeywordShape])[] = [
  ...words('contains additionalProperties propertyNames if then else not').map((word) => [word, 'schema'] as const),
  ...words('allOf anyOf oneOf').map((word) => [word, 'schemas'] as const),
  ...words('properties patternProperties').map((word) => [word, 'schemaMap'] as const),
]

export const draft07: JsonDialect = {
  draft: '07',
  uri: draft07Uri,
  keywords: new Map<string, KeywordShape>([
    ...assertions,
    ...applicators,
    ['items', 'itemsOfDraft07'],
    ['additionalItems', 'schema'],
    ['dependencies', 'dependencies'],
    ['definitions', 'holds'],
  ]),
}

const vocabularyUri = 'https://json-schema.org/draft/2020-12/vocab'

/** Those that say something of a value. `definitions` went with draft 2019-09 and is in use all the same. */
const vocabularies: Readonly<Record<string, ReadonlyMap<string, KeywordShape>>> = {
  [`${vocabularyUri}/core`]: new Map([
    ['$defs', 'holds'],
    ['definitions', 'holds'],
  ]),
  [`${vocabularyUri}/applicator`]: new Map<string, KeywordShape>([
    ...applicators,
    ['prefixItems', 'schemas'],
    ['items', 'schema'],
    ['dependentSchemas', 'schemaMap'],
  ]),
  [`${vocabularyUri}/validation`]: new Map<string, KeywordShape>([
    ...assertions,
    ['minContains', 'asserts'],
    ['maxContains', 'asserts'],
    ['dependentRequired', 'asserts'],
  ]),
  [`${vocabularyUri}/unevaluated`]: new Map([
    ['unevaluatedItems', 'schema'],
    ['unevaluatedProperties', 'schema'],
  ]),
  [`${vocabularyUri}/meta-data`]: new Map(),
  [`${vocabularyUri}/format-annotation`]: new Map(),
  [`${vocabularyUri}/content`]: new Map(),
}

export const draft202012: JsonDialect = {
  draft: '2020-12',
  uri: draft202012Uri,
  keywords: new Map(Object.values(vocabularies).flatMap((keywords) => [...keywords])),
}

/** The dialect that `$schema` names, if it is one of the two; with or without the empty fragment. */
export function standardDialect($schema: string): JsonDialect | null {
  const uri = $schema.replace(/#$/, '')
  if (uri === draft202012Uri) return draft202012
  return uri === draft07Uri || uri === 'https://json-schema.org/draft-07/schema' ? draft07 : null
}

/**
 * The dialect of a meta-schema of one's own, which lists its vocabularies (2020-12, section 8.1.2): only their keywords mean
 * anything. Gives the URI of the vocabulary that is required and unknown instead.
 */
export function dialectOfVocabularies(uri: string, required: Readonly<Record<string, boolean>>): JsonDialect | string {
  const keywords = new Map<string, KeywordShape>(vocabularies[`${vocabularyUri}/core`])
  for (const [name, isRequired] of Object.entries(required)) {
    const vocabulary = vocabularies[name]
    if (vocabulary === undefined) {
      if (isRequired) return name
      continue
    }
    for (const [keyword, shape] of vocabulary) keywords.set(keyword, shape)
  }
  return { draft: '2020-12', uri, keywords }
}

function words(text: string): string[] {
  return text.split(/\s+/)
}
