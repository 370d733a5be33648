import { pointerStep, SchemaRefusal } from '../schema-kind.ts'
import type { Json, JsonObject, JsonSchema } from './json-dialects.ts'
import { isObject, type LocatedSchema, type SchemaDocuments, type SchemaResource } from './json-documents.ts'
import { checkPattern } from './json-patterns.ts'

/**
 * One schema that says what a schema and all that it refers to say: only keywords of draft 2020-12 that assert something of a
 * value, and of references only `{ $ref: '#/$defs/7' }`. URIs, anchors, dynamic scopes, dialects and drafts are done with here,
 * so that what compiles it, and what compares two of it, need to know nothing of them.
 */
export interface FlatSchema {
  readonly root: JsonSchema
  /** In the order of their numbers, which are their names. */
  readonly definitions: readonly JsonSchema[]
}

/** The number of a definition, of a reference to it. */
export function definitionNumber($ref: string): number {
  return Number($ref.slice($ref.lastIndexOf('/') + 1))
}

/** Many more than any schema written by hand or generated has; each costs memory in every worker that compiles it. */
const definitionsMax = 20_000

/** Throws `SchemaRefusal`. */
export function flattenSchema(root: LocatedSchema, documents: SchemaDocuments): FlatSchema {
  return new Flattener(documents).flatten(root)
}

/**
 * For each name of a `$dynamicAnchor`, the outermost schema of the dynamic scope that has it: where `$dynamicRef` leads (core,
 * section 8.2.3.2). The scope is known wherever the schema is: a schema that is reached through two scopes is flattened for each.
 */
interface DynamicScope {
  /** Equal for scopes that are. */
  readonly key: string
  readonly anchors: ReadonlyMap<string, LocatedSchema>
}

class Flattener {
  readonly #documents: SchemaDocuments
  readonly #definitions: JsonSchema[] = []
  readonly #paths: string[] = []
  /** By schema (a boolean has no identity, and needs none), then by scope. */
  readonly #numbers = new Map<JsonSchema, Map<string, number>>()
  readonly #waiting: { readonly located: LocatedSchema; readonly scope: DynamicScope; readonly number: number }[] = []
  readonly #scopeIds = new Map<LocatedSchema, number>()

  constructor(documents: SchemaDocuments) {
    this.#documents = documents
  }

  flatten(root: LocatedSchema): FlatSchema {
    const flatRoot = this.#refTo(root, { key: '', anchors: new Map() })
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      this.#definitions[next.number] = this.#flat(next.located, next.scope)
      this.#paths[next.number] = next.located.path
    }
    this.#refuseCircles()
    return { root: flatRoot, definitions: this.#definitions }
  }

  /** A schema that holds its values to itself before anything else: it says nothing, or never comes to an end (core, section 9.4.1). */
  #refuseCircles(): void {
    const done = new Set<number>()
    const underWay = new Set<number>()
    const visit = (number: number): void => {
      if (done.has(number)) return
      if (underWay.has(number)) throw new SchemaRefusal(this.#paths[number] ?? '', 'the reference leads back to itself')
      underWay.add(number)
      for (const next of sameValueReferences(this.#definitions[number] ?? true)) visit(next)
      underWay.delete(number)
      done.add(number)
    }
    for (const number of this.#definitions.keys()) visit(number)
  }

  #refTo(target: LocatedSchema, scope: DynamicScope): JsonSchema {
    if (typeof target.schema === 'boolean') return target.schema
    const entered = this.#enter(target.resource, scope)
    let numbers = this.#numbers.get(target.schema)
    if (numbers === undefined) {
      numbers = new Map()
      this.#numbers.set(target.schema, numbers)
    }
    let number = numbers.get(entered.key)
    if (number === undefined) {
      number = this.#definitions.length
      if (number === definitionsMax) throw new SchemaRefusal(target.path, `more than ${definitionsMax} definitions`)
      numbers.set(entered.key, number)
      this.#definitions.push(true)
      this.#waiting.push({ located: target, scope: entered, number })
    }
    return { $ref: `#/$defs/${number}` }
  }

  #enter(resource: SchemaResource, scope: DynamicScope): DynamicScope {
    let entered: Map<string, LocatedSchema> | null = null
    for (const [name, located] of resource.dynamicAnchors) {
      if (scope.anchors.has(name)) continue
      entered ??= new Map(scope.anchors)
      entered.set(name, located)
    }
    if (entered === null) return scope
    const keys = [...entered].map(([name, located]) => `${name}\0${this.#scopeId(located)}`)
    return { key: keys.sort().join('\0'), anchors: entered }
  }

  #scopeId(located: LocatedSchema): number {
    const known = this.#scopeIds.get(located)
    if (known !== undefined) return known
    this.#scopeIds.set(located, this.#scopeIds.size)
    return this.#scopeIds.size - 1
  }

  #flat(located: LocatedSchema, scope: DynamicScope): JsonSchema {
    const { schema, resource } = located
    if (typeof schema === 'boolean') return schema
    const references = this.#references(schema, located, scope)
    const [reference = true, second] = references
    // In draft 07 what stands beside a reference means nothing.
    if (reference === false || (references.length > 0 && resource.dialect.draft === '07')) return reference
    const flat: Record<string, Json> = reference === true ? {} : { ...reference }
    this.#flatKeywords(schema, located, scope, flat)
    if (second !== undefined) flat['allOf'] = [...asArray(flat['allOf'] ?? []), second]
    return flat
  }

  /** None, one, or in draft 2020-12 two. */
  #references(schema: JsonObject, located: LocatedSchema, scope: DynamicScope): JsonSchema[] {
    const { $ref, $dynamicRef } = schema
    const references: JsonSchema[] = []
    if (typeof $ref === 'string') references.push(this.#refTo(this.#documents.resolve($ref, located), scope))
    if (typeof $dynamicRef === 'string' && located.resource.dialect.draft === '2020-12') {
      references.push(this.#refTo(this.#dynamicTarget($dynamicRef, located, scope), scope))
    }
    return references
  }

  #dynamicTarget(ref: string, located: LocatedSchema, scope: DynamicScope): LocatedSchema {
    const initial = this.#documents.resolve(ref, located)
    const name = ref.slice(ref.indexOf('#') + 1)
    return initial.resource.dynamicAnchors.get(name) === initial ? (scope.anchors.get(name) ?? initial) : initial
  }

  #flatKeywords(schema: JsonObject, located: LocatedSchema, scope: DynamicScope, flat: Record<string, Json>): void {
    const { resource, path } = located
    const child = (json: Json | undefined, step: string): JsonSchema => {
      const found = this.#documents.child(located, json, step)
      return this.#flat(found, found.resource === resource ? scope : this.#enter(found.resource, scope))
    }
    for (const [keyword, value] of Object.entries(schema)) {
      const step = `/${keyword}`
      switch (resource.dialect.keywords.get(keyword)) {
        case 'asserts':
          if (keyword === 'pattern') checkPattern(value, path + step)
          flat[keyword] = value
          break
        case 'schema':
          if (keyword !== 'additionalItems') flat[keyword] = child(value, step)
          break
        case 'schemas':
          flat[keyword] = asArray(value).map((json, index) => child(json, `${step}/${index}`))
          break
        case 'schemaMap':
          if (keyword === 'patternProperties') {
            for (const pattern of Object.keys(asObject(value)))
              checkPattern(pattern, path + step + pointerStep(pattern))
          }
          flat[keyword] = mapObject(asObject(value), (json, key) => child(json, step + pointerStep(key)))
          break
        case 'itemsOfDraft07':
          flatItems(schema, child, flat)
          break
        case 'dependencies':
          flatDependencies(asObject(value), child, flat)
          break
      }
    }
  }
}

/** The definitions that a value is held to because it is held to a schema; those of its properties and items are not among them. */
function sameValueReferences(schema: Json): number[] {
  if (!isObject(schema)) return []
  const { $ref } = schema
  const branches = branchKeywords.flatMap((keyword) => schema[keyword] ?? [])
  const dependent = Object.values(asObject(schema['dependentSchemas'] ?? {}))
  return [
    ...(typeof $ref === 'string' ? [definitionNumber($ref)] : []),
    ...[...branches, ...dependent].flatMap(sameValueReferences),
  ]
}

const branchKeywords = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']

type FlatChild = (json: Json | undefined, step: string) => JsonSchema

function flatItems({ items, additionalItems }: JsonObject, child: FlatChild, flat: Record<string, Json>): void {
  if (!Array.isArray(items)) {
    flat['items'] = child(items, '/items')
    return
  }
  // An empty one says nothing, and prefixItems may not be empty.
  if (items.length > 0) flat['prefixItems'] = items.map((json: Json, index) => child(json, `/items/${index}`))
  if (additionalItems !== undefined) flat['items'] = child(additionalItems, '/additionalItems')
}

function flatDependencies(dependencies: JsonObject, child: FlatChild, flat: Record<string, Json>): void {
  const entries = Object.entries(dependencies)
  const names = entries.filter(([, dependency]) => Array.isArray(dependency))
  const schemas = entries.filter(([, dependency]) => !Array.isArray(dependency))
  if (names.length > 0) flat['dependentRequired'] = Object.fromEntries(names)
  if (schemas.length > 0) {
    const schemaOf = (json: Json, key: string) => child(json, `/dependencies${pointerStep(key)}`)
    flat['dependentSchemas'] = mapObject(Object.fromEntries(schemas), schemaOf)
  }
}

/** `fromEntries` and not assignment, which takes the key `__proto__` for something else. */
function mapObject(object: JsonObject, map: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

function asArray(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {}
}
