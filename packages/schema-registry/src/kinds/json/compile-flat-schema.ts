import { Ajv2020, type ErrorObject, type Options } from 'ajv/dist/2020.js'
import { isStackOverflow, type ValueProblem } from '../schema-kind.ts'
import type { FlatSchema } from './flatten-schema.ts'
import type { Json, JsonObject, JsonSchema } from './json-dialects.ts'
import { patternOf } from './json-patterns.ts'
import { uniqueItems } from './unique-items.ts'

export type JsonCheck = (value: unknown) => ValueProblem | null

/**
 * Compiles with ajv. It is given nothing but what it does well: names, drafts and scopes are flattened before.
 * Recursive schemas overflow the stack on values that nest deeply, which is a problem of the value.
 */
export function compileFlatSchema({ root, definitions }: FlatSchema): JsonCheck {
  if (typeof root === 'boolean') {
    return () => (root ? null : { path: '', reason: 'the schema allows no value' })
  }
  const ajv = new Ajv2020(ajvOptions)
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword(uniqueItems)
  const $defs = Object.fromEntries(definitions.map((definition, number) => [number, forAjv(definition)]))
  const isValid = ajv.compile({ ...root, $defs })
  return (value) => {
    try {
      if (isValid(value)) return null
    } catch (error) {
      if (isStackOverflow(error)) return { path: '', reason: 'the value nests too deeply for its schema' }
      throw error
    }
    return problemOf(isValid.errors ?? [])
  }
}

const ajvOptions: Options = {
  strict: false,
  // JSON has none, but `1e999` becomes one.
  strictNumbers: true,
  ownProperties: true,
  // Formats are annotations in 2020-12, and in 07 as well unless asked for.
  validateFormats: false,
  // Done by ourselves: see json-kind.ts.
  validateSchema: false,
  meta: false,
  addUsedSchema: false,
  logger: false,
  // The keywords of a definition that are repeated wherever it is referred to; larger ones become functions.
  inlineRefs: 8,
  code: { regExp: Object.assign((source: string) => patternOf(source), { code: 'patternOf' }) },
}

/** ajv passes over a property that is called `__proto__`, unless a pattern finds it. */
function forAjv(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, (object) => {
    const { properties, patternProperties } = object as Record<string, JsonObject | undefined>
    if (properties === undefined || !Object.hasOwn(properties, '__proto__')) return object
    const entry = Object.entries(properties).find(([key]) => key === '__proto__')
    return { ...object, patternProperties: { ...patternProperties, '^__proto__$': entry?.[1] ?? true } }
  })
}

function mapSchemas(json: JsonSchema, map: (schema: JsonObject) => JsonObject): JsonSchema {
  const visit = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(visit)
    return map(Object.fromEntries(Object.entries(value).map(([key, child]) => [key, visit(child)])))
  }
  return visit(json) as JsonSchema
}

/** The error that says most: with alternatives the one about all of them, which ajv lists after those of each. */
function problemOf(errors: readonly ErrorObject[]): ValueProblem {
  const last = errors.at(-1)
  const error = last?.keyword === 'if' ? errors.at(-2) : last
  if (error === undefined) return { path: '', reason: 'not valid' }
  return { path: bounded(error.instancePath, pathMax), reason: bounded(reasonOf(error), reasonMax) }
}

/** What a client is told is bounded, though names of properties are as long as values may be. */
const pathMax = 300
const reasonMax = 300

function bounded(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

function reasonOf({ keyword, params, message = 'not valid' }: ErrorObject): string {
  switch (keyword) {
    case 'enum':
      return `must be one of ${shownAll(params['allowedValues'])}`
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'additionalProperties':
      return `must not have the property ${JSON.stringify(params['additionalProperty'])}`
    case 'unevaluatedProperties':
      return `must not have the property ${JSON.stringify(params['unevaluatedProperty'])}`
    case 'propertyNames':
      return `must not have a property named ${JSON.stringify(params['propertyName'])}`
    case 'false schema':
      return 'must not be there'
    default:
      return message
  }
}

function shownAll(values: unknown): string {
  return Array.isArray(values)
    ? values
        .slice(0, 20)
        .map((value) => JSON.stringify(value))
        .join(', ')
    : ''
}
