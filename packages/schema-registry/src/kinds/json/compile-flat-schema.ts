import assert from 'node:assert'
import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import { isStackOverflow, SchemaRefusal, type ValueProblem } from '../schema-kind.ts'
import { definitionsForAjv } from './ajv-schema.ts'
import { alternatives } from './alternatives.ts'
import { type CompiledDefinitions, unevaluatedKeywords } from './evaluated-parts.ts'
import type { FlatSchema } from './flatten-schema.ts'
import type { JsonSchema } from './json-dialects.ts'
import { patternOf } from './json-patterns.ts'
import { stringLengths } from './string-lengths.ts'
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
  const $defs = definitionsForAjv(definitions)
  const ajv = new Ajv2020({ ...ajvOptions, ownProperties: namesInherited(definitions) })
  // Its own way to know what is evaluated costs time in every schema, and is not used.
  ajv.opts.unevaluated = false
  const own = [uniqueItems, ...alternatives, ...stringLengths, ...unevaluatedKeywords(compiledDefinitions(ajv, $defs))]
  for (const definition of own) ajv.removeKeyword(String(definition.keyword)).addKeyword(definition)
  ajv.addSchema({ ...root, $defs }, flatSchemaKey)
  const isValid = compiled(ajv)
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

/**
 * Whether a schema names what every object inherits: then it takes a slower check to tell what it has itself. (No object inherits
 * anything that could be found by going through its properties.)
 */
function namesInherited(definitions: readonly JsonSchema[]): boolean {
  const text = JSON.stringify(definitions)
  return Object.getOwnPropertyNames(Object.prototype).some((name) => text.includes(`"${name}"`))
}

const flatSchemaKey = 'flat'

/** A meta-schema of one's own may let through what ajv does not take. */
function compiled(ajv: Ajv2020): ValidateFunction {
  try {
    const validate = ajv.getSchema(flatSchemaKey)
    assert(validate)
    return validate
  } catch (error) {
    if (!(error instanceof Error) || isStackOverflow(error)) throw error
    throw new SchemaRefusal('', `it does not compile: ${error.message.slice(0, reasonMax)}`)
  }
}

/** ajv compiles those that are asked for, once. */
function compiledDefinitions(ajv: Ajv2020, definitions: readonly JsonSchema[]): CompiledDefinitions {
  return {
    definition: (number) => definitions[number] ?? true,
    isValid: (number, value) => ajv.getSchema(`${flatSchemaKey}#/$defs/${number}`)?.(value) === true,
  }
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
