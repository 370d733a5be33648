import { pointerStep, SchemaRefusal } from '../schema-kind.ts'
import {
  dialectOfVocabularies,
  draft07,
  type Json,
  type JsonDialect,
  type JsonObject,
  type JsonSchema,
  standardDialect,
} from './json-dialects.ts'

/** A schema with a URI of its own: a document, or what has an `$id` inside one. */
export interface SchemaResource {
  /** Absolute, without fragment. */
  readonly uri: string
  readonly root: JsonSchema
  readonly dialect: JsonDialect
  /** The schemas in it that `$dynamicRef` may be led to. */
  readonly dynamicAnchors: ReadonlyMap<string, LocatedSchema>
}

export interface LocatedSchema {
  readonly schema: JsonSchema
  readonly resource: SchemaResource
  /** A JSON Pointer into the document; before it, for one that is only referred to, its name and `#`. */
  readonly path: string
}

/** Documents without an `$id` need a base as well, or names relative to them would mean nothing. Nothing is ever loaded from it. */
const baseUri = 'schema:///'

/**
 * The documents that a schema consists of, with every schema in them found by URI: `$id`, anchors and JSON Pointers, as sections 8.2
 * and 9.2 of JSON Schema core have it. Only what is given is found; there is no way from here to a network or a disk.
 * Throws `SchemaRefusal`.
 */
export class SchemaDocuments {
  readonly #resources = new Map<string, LocatedSchema>()
  readonly #anchors = new Map<string, LocatedSchema>()
  readonly #given: LocatedSchema[] = []
  readonly #byImportName = new Map<string, LocatedSchema>()
  readonly #located = new Map<JsonObject, LocatedSchema>()
  readonly #dynamicAnchors = new Map<SchemaResource, Map<string, LocatedSchema>>()
  readonly #texts: ReadonlyMap<string, Json>
  readonly #metaSchemas: ReadonlyMap<string, JsonObject>

  /** `texts` are the references, by import name; `metaSchemas` those of the drafts, by URI. */
  constructor(texts: ReadonlyMap<string, Json>, metaSchemas: ReadonlyMap<string, JsonObject>) {
    this.#texts = texts
    this.#metaSchemas = metaSchemas
  }

  /** The main document, after which all references can be found. */
  addAll(main: Json): LocatedSchema {
    const located = this.#addDocument(requireSchema(main, ''), `${baseUri}-main`, '', null)
    this.#given.push(located)
    for (const [importName, text] of this.#texts) {
      const path = `${importName}#`
      const uri = withoutFragment(resolveUri(baseUri, importName) ?? `${baseUri}${encodeURIComponent(importName)}`)
      const document = this.#addDocument(requireSchema(text, path), uri, path, located.resource.dialect)
      this.#byImportName.set(importName, document)
      this.#given.push(document)
    }
    return located
  }

  /** The documents that were given: the schema itself and its references. */
  given(): readonly LocatedSchema[] {
    return this.#given
  }

  /** What `ref`, which stands in `from`, refers to. */
  resolve(ref: string, from: LocatedSchema): LocatedSchema {
    const target = this.#find(ref, from)
    if (target !== null) return target
    throw new SchemaRefusal(from.path, `${shown(ref)} is neither in the schema nor among its references`)
  }

  #find(ref: string, from: LocatedSchema): LocatedSchema | null {
    const uri = resolveUri(from.resource.uri, ref)
    // What the base makes of a name need not be what its reference is called: then the name as it stands counts, as in Confluent's registry.
    const resource =
      (uri === null ? null : this.#resource(withoutFragment(uri))) ??
      this.#byImportName.get(withoutFragment(ref)) ??
      null
    if (resource === null) return null
    const fragment = fragmentOf(uri ?? ref, from.path)
    if (fragment === '' || fragment.startsWith('/')) return this.#pointedAt(resource, fragment)
    return this.#anchors.get(`${resource.resource.uri}#${fragment}`) ?? null
  }

  /** A subschema; its place is known, or is that of its parent with `step` after it. */
  child(parent: LocatedSchema, schema: Json | undefined, step: string): LocatedSchema {
    const path = parent.path + step
    if (typeof schema === 'boolean') return { schema, resource: parent.resource, path }
    const object = requireSchema(schema, path) as JsonObject
    return this.#located.get(object) ?? this.#index(object, parent.resource, path)
  }

  metaSchemaOf(dialect: JsonDialect): LocatedSchema {
    const found = this.#resource(dialect.uri)
    if (found === null) throw new SchemaRefusal('', `no meta-schema ${shown(dialect.uri)}`)
    return found
  }

  #resource(uri: string): LocatedSchema | null {
    const known = this.#resources.get(uri)
    if (known !== undefined) return known
    const metaSchema = this.#metaSchemas.get(uri)
    return metaSchema === undefined ? null : this.#addDocument(metaSchema, uri, `${uri}#`, null)
  }

  #addDocument(root: JsonSchema, uri: string, path: string, inherited: JsonDialect | null): LocatedSchema {
    // Draft 07 is what schemas without `$schema` are of, as in Confluent's registry, whose serializers write them so.
    const fallback = inherited ?? draft07
    if (typeof root === 'boolean') {
      const resource: SchemaResource = { uri, root, dialect: fallback, dynamicAnchors: new Map() }
      const located = { schema: root, resource, path }
      this.#resources.set(uri, located)
      return located
    }
    const dialect = this.#dialectOf(root, path) ?? fallback
    const ownUri = uriOf(root, uri, dialect, path)
    const known = this.#resources.get(ownUri)
    const isKnown = known !== undefined && JSON.stringify(known.schema) === JSON.stringify(root)
    const located = isKnown ? known : this.#addResource(root, ownUri, dialect, path)
    if (!this.#resources.has(uri)) this.#resources.set(uri, located)
    return located
  }

  #addResource(root: JsonObject, uri: string, dialect: JsonDialect, path: string): LocatedSchema {
    const dynamicAnchors = new Map<string, LocatedSchema>()
    const resource: SchemaResource = { uri, root, dialect, dynamicAnchors }
    this.#dynamicAnchors.set(resource, dynamicAnchors)
    if (this.#resources.has(uri)) throw new SchemaRefusal(path, `a second schema of the $id ${shown(uri)}`)
    const located: LocatedSchema = { schema: root, resource, path }
    this.#resources.set(uri, located)
    this.#located.set(root, located)
    this.#indexAnchors(root, located)
    this.#indexChildren(root, located)
    return located
  }

  #index(schema: JsonObject, parent: SchemaResource, path: string): LocatedSchema {
    const hidesId = parent.dialect.draft === '07' && typeof schema['$ref'] === 'string'
    if (!hidesId && typeof schema['$id'] === 'string') {
      const dialect = this.#dialectOf(schema, path) ?? parent.dialect
      const uri = uriOf(schema, parent.uri, dialect, path)
      if (uri !== parent.uri) return this.#addResource(schema, uri, dialect, path)
    }
    const located: LocatedSchema = { schema, resource: parent, path }
    this.#located.set(schema, located)
    this.#indexAnchors(schema, located)
    this.#indexChildren(schema, located)
    return located
  }

  #indexAnchors(schema: JsonObject, located: LocatedSchema): void {
    const { $id, $anchor, $dynamicAnchor } = schema
    const { resource, path } = located
    const add = (name: string) => {
      const key = `${resource.uri}#${name}`
      const other = this.#anchors.get(key)
      if (other !== undefined && other !== located) throw new SchemaRefusal(path, `a second anchor ${shown(name)}`)
      this.#anchors.set(key, located)
    }
    if (resource.dialect.draft === '07') {
      // In draft 07 an anchor is an `$id` that is only a fragment.
      if (typeof $id === 'string' && $id.length > 1 && $id.startsWith('#') && typeof schema['$ref'] !== 'string') {
        add($id.slice(1))
      }
      return
    }
    if (typeof $anchor === 'string') add($anchor)
    if (typeof $dynamicAnchor === 'string') {
      add($dynamicAnchor)
      this.#dynamicAnchors.get(resource)?.set($dynamicAnchor, located)
    }
  }

  #indexChildren(schema: JsonObject, located: LocatedSchema): void {
    const { resource, path } = located
    const visit = (child: Json | undefined, step: string) => {
      if (isObject(child) && !this.#located.has(child)) this.#index(child, resource, path + step)
    }
    for (const keyword in schema) {
      const shape = resource.dialect.keywords.get(keyword)
      if (shape === undefined || shape === 'asserts') continue
      const value = schema[keyword]
      if (Array.isArray(value)) {
        if (shape === 'schemas' || shape === 'itemsOfDraft07') {
          value.forEach((child: Json, index) => {
            visit(child, `/${keyword}/${index}`)
          })
        }
      } else if (isObject(value)) {
        if (shape === 'schema' || shape === 'itemsOfDraft07') visit(value, `/${keyword}`)
        else for (const key in value) visit(value[key], `/${keyword}${pointerStep(key)}`)
      }
    }
  }

  /** Follows a JSON Pointer from the root of a resource; on its way it may come into other resources. */
  #pointedAt(resource: LocatedSchema, pointer: string): LocatedSchema | null {
    let parent = resource
    let value: Json | undefined = resource.schema
    let path = resource.path
    for (const escaped of pointer.split('/').slice(1)) {
      const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      path += pointerStep(key)
      if (Array.isArray(value)) value = /^\d+$/.test(key) ? (value as readonly Json[])[Number(key)] : undefined
      else if (isObject(value)) value = Object.hasOwn(value, key) ? value[key] : undefined
      else return null
      if (isObject(value)) parent = this.#located.get(value) ?? parent
    }
    if (typeof value === 'boolean') return { schema: value, resource: parent.resource, path }
    if (!isObject(value)) return null
    return this.#located.get(value) ?? this.#index(value, parent.resource, path)
  }

  #dialectOf(schema: JsonObject, path: string): JsonDialect | null {
    const { $schema } = schema
    if ($schema === undefined) return null
    if (typeof $schema !== 'string') throw new SchemaRefusal(`${path}/$schema`, 'not a string')
    const standard = standardDialect($schema)
    if (standard !== null) return standard
    const uri = withoutFragment(resolveUri(baseUri, $schema) ?? '')
    const metaSchema = this.#givenMetaSchema(uri)
    const dialectOfMetaSchema =
      isObject(metaSchema) && typeof metaSchema['$schema'] === 'string' ? standardDialect(metaSchema['$schema']) : null
    if (!isObject(metaSchema) || dialectOfMetaSchema === null) {
      throw new SchemaRefusal(
        `${path}/$schema`,
        `${shown($schema)} is neither draft 2020-12 nor draft 07, nor a meta-schema of one of them among the references`,
      )
    }
    const { $vocabulary } = metaSchema
    if (dialectOfMetaSchema.draft === '07' || !isObject($vocabulary)) return { ...dialectOfMetaSchema, uri }
    const dialect = dialectOfVocabularies(uri, $vocabulary as Readonly<Record<string, boolean>>)
    if (typeof dialect === 'string') {
      throw new SchemaRefusal(`${path}/$schema`, `${shown($schema)} requires the unknown vocabulary ${shown(dialect)}`)
    }
    return dialect
  }

  /** It may come after what it describes, so it is looked for in the texts. */
  #givenMetaSchema(uri: string): Json | null {
    for (const [importName, text] of this.#texts) {
      const id = isObject(text) && typeof text['$id'] === 'string' ? text['$id'] : importName
      for (const name of [id, importName]) {
        if (withoutFragment(resolveUri(baseUri, name) ?? '') === uri) return text
      }
    }
    return null
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function requireSchema(value: Json | undefined, path: string): JsonSchema {
  if (typeof value === 'boolean' || isObject(value)) return value
  throw new SchemaRefusal(path, 'a schema is an object or a boolean')
}

/** The URI of a schema's own `$id`, if it has one and it is more than a fragment; else `base`. */
function uriOf(schema: JsonSchema, base: string, dialect: JsonDialect, path: string): string {
  if (typeof schema === 'boolean') return base
  const { $id, $ref } = schema
  if (typeof $id !== 'string' || $id.startsWith('#')) return base
  if (dialect.draft === '07' && typeof $ref === 'string') return base
  const uri = resolveUri(base, $id)
  if (uri === null) throw new SchemaRefusal(`${path}/$id`, `${shown($id)} is no URI reference`)
  return withoutFragment(uri)
}

function resolveUri(base: string, reference: string): string | null {
  return URL.canParse(reference, base) ? new URL(reference, base).href : null
}

function withoutFragment(uri: string): string {
  const at = uri.indexOf('#')
  return at < 0 ? uri : uri.slice(0, at)
}

function fragmentOf(uri: string, path: string): string {
  const at = uri.indexOf('#')
  if (at < 0) return ''
  try {
    return decodeURIComponent(uri.slice(at + 1))
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new SchemaRefusal(path, `the fragment of ${shown(uri)} is not percent-encoded UTF-8`)
  }
}

/** Names in reasons are bounded: they come from the schema. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}
