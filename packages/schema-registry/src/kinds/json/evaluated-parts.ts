import type { FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { pointerStep } from '../schema-kind.ts'
import { definitionNumber } from './flatten-schema.ts'
import type { Json, JsonObject, JsonSchema } from './json-dialects.ts'
import { patternOf } from './json-patterns.ts'
import { arrayOf, objectOf } from './written-values.ts'

export interface CompiledDefinitions {
  definition(number: number): JsonSchema
  /** Whether a value is valid against a definition. */
  isValid(number: number, value: unknown): boolean
}

/**
 * `unevaluatedProperties` and `unevaluatedItems` (core, section 11), which ajv gets wrong where it is `contains`, or an `if` without
 * one of its branches, that says what is evaluated. Branches are references to definitions: see `definitionsForAjv`.
 */
export function unevaluatedKeywords(definitions: CompiledDefinitions): FuncKeywordDefinition[] {
  const evaluatedParts = new EvaluatedParts(definitions)
  return [
    {
      keyword: 'unevaluatedProperties',
      type: 'object',
      schemaType: ['boolean', 'object'],
      errors: true,
      compile: (rest: JsonSchema, schema) =>
        refusing((value: Readonly<Record<string, unknown>>) => {
          const names = evaluatedParts.properties(without(schema, 'unevaluatedProperties'), value)
          return Object.keys(value).find((name) => !names.has(name) && !evaluatedParts.isValid(rest, value[name]))
        }, 'property'),
    },
    {
      keyword: 'unevaluatedItems',
      type: 'array',
      schemaType: ['boolean', 'object'],
      errors: true,
      compile: (rest: JsonSchema, schema) =>
        refusing((value: readonly unknown[]) => {
          const indexes = evaluatedParts.items(without(schema, 'unevaluatedItems'), value)
          const found = value.findIndex((item, index) => !indexes.has(index) && !evaluatedParts.isValid(rest, item))
          return found < 0 ? undefined : found
        }, 'item'),
    },
  ]
}

function without(schema: JsonObject, keyword: string): JsonObject {
  const { [keyword]: _, ...rest } = schema
  return rest
}

type DataValidateFunction = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>

/** `find` gives the key of a part that may not be there. */
function refusing<Value>(find: (value: Value) => string | number | undefined, what: string): DataValidateFunction {
  const validate: DataValidateFunction = (value: Value, context) => {
    const key = find(value)
    if (key === undefined) return true
    const instancePath = `${context?.instancePath ?? ''}${pointerStep(key)}`
    validate.errors = [{ instancePath, message: `this ${what} is not among those that the schema allows`, params: {} }]
    return false
  }
  return validate
}

type Keys<Key> = { has(key: Key): boolean }
const everyKey: Keys<string | number> = { has: () => true }

class EvaluatedParts {
  readonly #definitions: CompiledDefinitions

  constructor(definitions: CompiledDefinitions) {
    this.#definitions = definitions
  }

  /** Branches are booleans or references. */
  isValid(branch: JsonSchema, value: unknown): boolean {
    return typeof branch === 'boolean'
      ? branch
      : this.#definitions.isValid(definitionNumber(String(branch['$ref'])), value)
  }

  /** Of a value that is valid against the schema, the properties that its keywords have looked at. */
  properties(schema: JsonObject, value: Readonly<Record<string, unknown>>): Keys<string> {
    const names = new Set<string>()
    const isAll = this.#eachPart(schema, value, (part) => {
      if (part['additionalProperties'] !== undefined || part['unevaluatedProperties'] !== undefined) return true
      for (const name of Object.keys(objectOf(part['properties']))) names.add(name)
      const patterns = Object.keys(objectOf(part['patternProperties'])).map(patternOf)
      if (patterns.length === 0) return false
      for (const name of Object.keys(value)) if (patterns.some((pattern) => pattern.test(name))) names.add(name)
      return false
    })
    return isAll ? everyKey : names
  }

  items(schema: JsonObject, value: readonly unknown[]): Keys<number> {
    const indexes = new Set<number>()
    let prefix = 0
    const isAll = this.#eachPart(schema, value, (part) => {
      if (part['items'] !== undefined || part['unevaluatedItems'] !== undefined) return true
      prefix = Math.max(prefix, arrayOf(part['prefixItems']).length)
      const { contains } = part
      if (contains === undefined) return false
      value.forEach((item, index) => {
        if (this.isValid(contains as JsonSchema, item)) indexes.add(index)
      })
      return false
    })
    return isAll ? everyKey : { has: (index) => index < prefix || indexes.has(index) }
  }

  /** Visits all schemas that hold for the value itself; true as soon as `visit` is. */
  #eachPart(schema: JsonObject, value: unknown, visit: (part: JsonObject) => boolean): boolean {
    if (visit(schema)) return true
    const inBranch = (branch: Json | undefined): boolean => {
      if (typeof branch !== 'object' || branch === null) return false
      const { $ref } = branch as JsonObject
      const definition = this.#definitions.definition(definitionNumber(String($ref)))
      return typeof definition === 'object' && this.#eachPart(definition, value, visit)
    }
    const inValidBranch = (branch: Json): boolean => this.isValid(branch as JsonSchema, value) && inBranch(branch)

    if (schema['$ref'] !== undefined && inBranch({ $ref: schema['$ref'] })) return true
    if (arrayOf(schema['allOf']).some(inBranch)) return true
    if (arrayOf(schema['anyOf']).some(inValidBranch) || arrayOf(schema['oneOf']).some(inValidBranch)) return true
    if (schema['if'] !== undefined) {
      const isMet = this.isValid(schema['if'] as JsonSchema, value)
      if (isMet ? inBranch(schema['if']) || inBranch(schema['then']) : inBranch(schema['else'])) return true
    }
    return Object.entries(objectOf(schema['dependentSchemas'])).some(
      ([name, branch]) => typeof value === 'object' && value !== null && Object.hasOwn(value, name) && inBranch(branch),
    )
  }
}
