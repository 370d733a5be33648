import { canonicalText } from '../canonical-text.ts'
import type { FlatSchema } from './flatten-schema.ts'
import type { Json, JsonObject } from './json-dialects.ts'
import { isObject } from './json-documents.ts'
import { patternOf } from './json-patterns.ts'
import { definitionAt, type SchemaIn } from './same-schema.ts'

/** One schema object that all written values are valid against; `schema` of it is an object. */
export interface Fact extends SchemaIn {
  readonly schema: JsonObject
}

export const jsonTypes = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'] as const
export type JsonType = (typeof jsonTypes)[number]

/**
 * The values that a schema allows, known by what holds of all of them: facts, each of which may have any keyword. What one fact
 * says counts for all, so a bound is the narrowest that any of them has.
 */
export class WrittenValues {
  /** What `allOf` and `$ref` of one lead to are facts of their own. */
  readonly facts: readonly Fact[]
  /** No value at all. */
  readonly isNone: boolean
  #types: ReadonlySet<JsonType> | null = null

  private constructor(facts: readonly Fact[], isNone: boolean) {
    this.facts = facts
    this.isNone = isNone
  }

  static of(schemas: readonly SchemaIn[]): WrittenValues {
    const facts: Fact[] = []
    const seen = new Set<Json>()
    let isNone = false
    const add = ({ schema, of }: SchemaIn): void => {
      if (schema === false) isNone = true
      if (typeof schema === 'boolean' || seen.has(schema)) return
      seen.add(schema)
      const { $ref, allOf } = schema
      if (Object.keys(schema).some((keyword) => keyword !== '$ref' && keyword !== 'allOf')) facts.push({ schema, of })
      if (typeof $ref === 'string') add({ schema: definitionAt($ref, of), of })
      if (Array.isArray(allOf)) for (const part of allOf as readonly JsonObject[]) add({ schema: part, of })
    }
    for (const schema of schemas) add(schema)
    return new WrittenValues(facts, isNone)
  }

  and(...schemas: readonly SchemaIn[]): WrittenValues {
    return WrittenValues.of([...this.facts, ...schemas])
  }

  /** `number` stands for numbers that are no integers: where the keyword has it, both are here. */
  get types(): ReadonlySet<JsonType> {
    this.#types ??= this.#computeTypes()
    return this.#types
  }

  #computeTypes(): ReadonlySet<JsonType> {
    let types = new Set<JsonType>(this.isNone ? [] : jsonTypes)
    for (const { schema } of this.facts) {
      const { type } = schema
      if (type !== undefined) types = inBoth(types, typesNamed(type))
      const values = listed(schema)
      if (values !== null) types = inBoth(types, new Set(values.flatMap(typesOfValue)))
    }
    return types
  }

  /** The values, if only so many are allowed and are written down one by one, as canonical texts. */
  get listedValues(): ReadonlySet<string> | null {
    let values: Set<string> | null = null
    for (const { schema } of this.facts) {
      const list = listed(schema)
      if (list === null) continue
      const texts = new Set(list.map(canonicalText))
      values = values === null ? texts : inBoth(values, texts)
    }
    if (values !== null) return values
    const { types } = this
    const isSmall = [...types].every((type) => type === 'null' || type === 'boolean')
    if (!isSmall) return null
    return new Set([...(types.has('null') ? ['null'] : []), ...(types.has('boolean') ? ['true', 'false'] : [])])
  }

  /** The most that any fact says, of a keyword that bounds from below. */
  largest(keyword: string): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...this.#numbers(keyword))
  }

  smallest(keyword: string): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#numbers(keyword))
  }

  #numbers(keyword: string): number[] {
    return this.facts.map(({ schema }) => schema[keyword]).filter((value) => typeof value === 'number')
  }

  has(keyword: string, value: Json): boolean {
    return this.facts.some(({ schema }) => schema[keyword] === value)
  }

  get required(): ReadonlySet<string> {
    return new Set(this.facts.flatMap(({ schema }) => stringsOf(schema['required'])))
  }

  /** What is known of a property's values if it is there. */
  property(name: string): WrittenValues {
    return WrittenValues.of(this.facts.flatMap((fact) => constraintsOnProperty(fact, name)))
  }

  /** What is known of properties that no fact names, in itself or by a pattern. */
  get otherProperties(): WrittenValues {
    return WrittenValues.of(this.facts.flatMap((fact) => within(fact, 'additionalProperties')))
  }

  get propertyNames(): ReadonlySet<string> {
    return new Set(this.facts.flatMap(({ schema }) => Object.keys(objectOf(schema['properties']))))
  }

  get propertyPatterns(): ReadonlySet<string> {
    return new Set(this.facts.flatMap(({ schema }) => Object.keys(objectOf(schema['patternProperties']))))
  }

  propertiesMatching(pattern: string): WrittenValues {
    return WrittenValues.of(
      this.facts.flatMap((fact) => {
        const schema = ownSchema(fact.schema['patternProperties'], pattern)
        return schema === undefined ? [] : [{ schema: schema as JsonObject, of: fact.of }]
      }),
    )
  }

  /** The names of properties, as values. */
  names(): WrittenValues {
    const known = this.facts.flatMap((fact) => within(fact, 'propertyNames'))
    return WrittenValues.of([...known, { schema: stringSchema, of: noDefinitions }])
  }

  /** What is known of the item at an index; of the rest if none has so many. */
  item(index: number): WrittenValues {
    return WrittenValues.of(
      this.facts.flatMap((fact) => {
        const prefix = arrayOf(fact.schema['prefixItems'])[index]
        return prefix === undefined ? within(fact, 'items') : [{ schema: prefix as JsonObject, of: fact.of }]
      }),
    )
  }

  /** How many items any fact names one by one. */
  get namedItems(): number {
    return Math.max(0, ...this.facts.map(({ schema }) => arrayOf(schema['prefixItems']).length))
  }
}

/** Whether it says something of what its other keywords have not looked at. */
export function isEvaluating(schema: JsonObject): boolean {
  return schema['unevaluatedProperties'] !== undefined || schema['unevaluatedItems'] !== undefined
}

function inBoth<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): Set<T> {
  return new Set([...a].filter((member) => b.has(member)))
}

const stringSchema: JsonObject = { type: 'string' }
const noDefinitions: FlatSchema = { root: true, definitions: [] }

/** All that a schema object wants of a property, if it is there. */
export function constraintsOnProperty({ schema, of }: Fact, name: string): SchemaIn[] {
  const named = ownSchema(schema['properties'], name)
  const matching = Object.entries(objectOf(schema['patternProperties'])).filter(([pattern]) =>
    patternOf(pattern).test(name),
  )
  const constraints = [...(named === undefined ? [] : [named]), ...matching.map(([, constraint]) => constraint)]
  if (constraints.length > 0) return constraints.map((constraint) => ({ schema: constraint as JsonObject, of }))
  return within({ schema, of }, 'additionalProperties')
}

/** The schema under a keyword, if there is one. */
export function within({ schema, of }: Fact, keyword: string): SchemaIn[] {
  const found = schema[keyword]
  return typeof found === 'boolean' || isObject(found) ? [{ schema: found, of }] : []
}

export function ownSchema(map: Json | undefined, key: string): Json | undefined {
  return isObject(map) && Object.hasOwn(map, key) ? map[key] : undefined
}

export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

export function stringsOf(value: Json | undefined): string[] {
  return arrayOf(value).filter((item) => typeof item === 'string')
}

/** What `enum` and `const` list, both together. */
export function listed(schema: JsonObject): readonly Json[] | null {
  const { enum: values, const: only } = schema
  if (only === undefined) return Array.isArray(values) ? values : null
  if (!Array.isArray(values)) return [only]
  const text = canonicalText(only)
  return values.filter((value: Json) => canonicalText(value) === text)
}

export function typesNamed(type: Json): ReadonlySet<JsonType> {
  const names = (Array.isArray(type) ? type : [type]) as readonly JsonType[]
  return new Set(names.flatMap((name) => (name === 'number' ? ['number', 'integer'] : [name])))
}

function typesOfValue(value: Json): JsonType[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? ['integer'] : ['number']
    case 'boolean':
      return ['boolean']
    case 'string':
      return ['string']
    default:
      return ['object']
  }
}
