import { pointerStep, SchemaRefusal } from '../schema-kind.ts'
import { defaultProblem } from './avro-default.ts'
import {
  type Attributes,
  type AvroType,
  type EnumType,
  type FixedType,
  type Primitive,
  primitives,
  type RecordField,
  type RecordType,
  typeName,
} from './avro-model.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Reads Avro schemas as the specification (1.12, "Schema Declaration") has them. What one text defines, those after it may name:
 * the references of a schema come before it. Throws `SchemaRefusal`, with a JSON Pointer to what is wrong.
 */
export class AvroParser {
  readonly #named = new Map<string, AvroType>()

  /** `label` is put before paths; '' for the schema itself. */
  parse(text: string, label: string): AvroType {
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw new SchemaRefusal(label, `not JSON: ${error.message.slice(0, 200)}`)
    }
    return this.#type(json, '', label)
  }

  #type(json: unknown, namespace: string, path: string): AvroType {
    if (typeof json === 'string') return this.#reference(json, namespace, path, {})
    if (Array.isArray(json)) return this.#union(json, namespace, path)
    if (!isObject(json)) throw new SchemaRefusal(path, 'a schema is a name, an object or a list of schemas')
    const { type } = json
    switch (type) {
      case 'record':
      case 'error':
        return this.#record(json, namespace, path)
      case 'enum':
        return this.#enum(json, namespace, path)
      case 'fixed':
        return this.#fixed(json, namespace, path)
      case 'array':
        return {
          kind: 'array',
          items: this.#type(json['items'], namespace, `${path}/items`),
          attributes: attributesOf(json, ['items']),
        }
      case 'map':
        return {
          kind: 'map',
          values: this.#type(json['values'], namespace, `${path}/values`),
          attributes: attributesOf(json, ['values']),
        }
    }
    if (typeof type !== 'string') throw new SchemaRefusal(`${path}/type`, 'the type of a schema is a name')
    return this.#reference(type, namespace, `${path}/type`, attributesOf(json, []))
  }

  #reference(name: string, namespace: string, path: string, attributes: Attributes): AvroType {
    if (isPrimitive(name)) return { kind: name, attributes }
    const known = this.#named.get(qualified(name, namespace)) ?? this.#named.get(name)
    if (known === undefined) throw new SchemaRefusal(path, `no type is called ${shown(name)}`)
    return known
  }

  #union(json: readonly unknown[], namespace: string, path: string): AvroType {
    const branches = json.map((branch, index) => {
      if (Array.isArray(branch)) throw new SchemaRefusal(`${path}/${index}`, 'a union directly in a union')
      return this.#type(branch, namespace, `${path}/${index}`)
    })
    const names = new Set<string>()
    branches.forEach((branch, index) => {
      const name = typeName(branch)
      if (names.has(name)) throw new SchemaRefusal(`${path}/${index}`, `${shown(name)} twice in a union`)
      names.add(name)
    })
    return { kind: 'union', branches }
  }

  #record(json: JsonObject, namespace: string, path: string): AvroType {
    const name = nameOf(json, namespace, path)
    const record: RecordType = {
      kind: 'record',
      ...name,
      attributes: attributesOf(json, [...nameKeys, 'fields']),
      fields: [],
    }
    this.#define(record, path)
    const { fields } = json
    if (!Array.isArray(fields)) throw new SchemaRefusal(`${path}/fields`, 'the fields of a record are a list')
    const names = new Set<string>()
    fields.forEach((field: unknown, index) => {
      const read = this.#field(field, namespaceOf(record.fullName), `${path}/fields/${index}`)
      if (names.has(read.name))
        throw new SchemaRefusal(`${path}/fields/${index}/name`, `a second field ${shown(read.name)}`)
      names.add(read.name)
      record.fields.push(read)
    })
    return record
  }

  #field(json: unknown, namespace: string, path: string): RecordField {
    if (!isObject(json)) throw new SchemaRefusal(path, 'a field is an object')
    const { name, order } = json
    if (typeof name !== 'string' || !simpleNamePattern.test(name)) throw new SchemaRefusal(`${path}/name`, 'not a name')
    if (order !== undefined && !['ascending', 'descending', 'ignore'].includes(order as string)) {
      throw new SchemaRefusal(`${path}/order`, 'the order is ascending, descending or ignore')
    }
    const type = this.#type(json['type'], namespace, `${path}/type`)
    const hasDefault = Object.hasOwn(json, 'default')
    const field: RecordField = {
      name,
      aliases: stringsOf(json, 'aliases', path),
      type,
      hasDefault,
      default: json['default'],
      attributes: attributesOf(json, ['name', 'aliases', 'default']),
    }
    const problem = hasDefault ? defaultProblem(type, field.default) : null
    if (problem !== null) throw new SchemaRefusal(`${path}/default`, problem)
    return field
  }

  #enum(json: JsonObject, namespace: string, path: string): AvroType {
    const symbols = stringsOf(json, 'symbols', path)
    if (!Array.isArray(json['symbols'])) throw new SchemaRefusal(`${path}/symbols`, 'the symbols of an enum are a list')
    symbols.forEach((symbol, index) => {
      const place = `${path}/symbols/${index}`
      if (!simpleNamePattern.test(symbol)) throw new SchemaRefusal(place, `${shown(symbol)} is not a name`)
    })
    if (new Set(symbols).size < symbols.length) throw new SchemaRefusal(`${path}/symbols`, 'a symbol twice')
    const fallback = json['default'] ?? null
    if (fallback !== null && !symbols.includes(fallback as string)) {
      throw new SchemaRefusal(`${path}/default`, 'the default is not among the symbols')
    }
    const type: EnumType = {
      kind: 'enum',
      ...nameOf(json, namespace, path),
      symbols,
      default: fallback as string | null,
      attributes: attributesOf(json, [...nameKeys, 'symbols', 'default']),
    }
    return this.#define(type, path)
  }

  #fixed(json: JsonObject, namespace: string, path: string): AvroType {
    const { size } = json
    if (!Number.isSafeInteger(size) || (size as number) < 0) {
      throw new SchemaRefusal(`${path}/size`, 'the size of a fixed is a number of bytes')
    }
    const type: FixedType = {
      kind: 'fixed',
      ...nameOf(json, namespace, path),
      size: size as number,
      attributes: attributesOf(json, [...nameKeys, 'size']),
    }
    return this.#define(type, path)
  }

  #define<Type extends RecordType | EnumType | FixedType>(type: Type, path: string): Type {
    if (this.#named.has(type.fullName)) throw new SchemaRefusal(`${path}/name`, `a second type ${shown(type.fullName)}`)
    this.#named.set(type.fullName, type)
    return type
  }
}

const nameKeys = ['name', 'namespace', 'aliases']
const simpleNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/
const dottedNamePattern = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/

function nameOf(
  json: JsonObject,
  enclosing: string,
  path: string,
): { readonly fullName: string; readonly aliases: readonly string[] } {
  const { name, namespace = enclosing } = json
  if (typeof name !== 'string' || !dottedNamePattern.test(name)) throw new SchemaRefusal(`${path}/name`, 'not a name')
  if (typeof namespace !== 'string' || (namespace !== '' && !dottedNamePattern.test(namespace))) {
    throw new SchemaRefusal(`${path}/namespace`, 'not a namespace')
  }
  const fullName = qualified(name, namespace)
  if (isPrimitive(fullName)) throw new SchemaRefusal(`${path}/name`, `${shown(name)} is the name of a primitive type`)
  const aliases = stringsOf(json, 'aliases', path).map((alias) => qualified(alias, namespaceOf(fullName)))
  return { fullName, aliases }
}

/** A name with a dot has its namespace in it. */
function qualified(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
}

function namespaceOf(fullName: string): string {
  const at = fullName.lastIndexOf('.')
  return at < 0 ? '' : fullName.slice(0, at)
}

function stringsOf(json: JsonObject, key: string, path: string): readonly string[] {
  const value = json[key] ?? []
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw new SchemaRefusal(path + pointerStep(key), 'not a list of strings')
}

function attributesOf(json: JsonObject, known: readonly string[]): Attributes {
  const rest = Object.entries(json).filter(([key]) => key !== 'type' && !known.includes(key))
  return rest.length === 0 ? noAttributes : Object.fromEntries(rest)
}

const noAttributes: Attributes = {}

function isPrimitive(name: string): name is Primitive {
  return (primitives as readonly string[]).includes(name)
}

function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}
