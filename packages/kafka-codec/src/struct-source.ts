import { type ByteReader, type ByteWriter, WriteError } from '@pico/binary'
import { FieldFailure } from './errors.ts'
import type { Field, Fields } from './field.ts'
import type { StructField } from './struct-codec.ts'
import type { TaggedFieldsCodec } from './tagged-fields.ts'

/*
 * The functions that read and write a struct are generated, and are the only generated code in this package. A loop
 * over fields works as well, but stores every property under a name that the engine cannot know in advance: measured
 * on Fetch v12 it decoded seven times slower than an object literal. So each struct gets, once per version, its own
 * literal. What goes into the source is our own declarations: names that are checked to be identifiers, and numbers.
 * The rest comes in as arguments.
 */

type Read = (reader: ByteReader) => unknown
type Write = (writer: ByteWriter, value: unknown) => void

/**
 * For `{ a: int32(), b: string({ versions: '1+' }) }` at version 0, not flexible:
 *
 *     (reader) => {
 *       let at = 0
 *       try {
 *         return { a: (at = 0, read0(reader)), b: '' }
 *       } catch (error) { throw failed(at, error) }
 *     }
 */
export function generateReader(fields: readonly StructField[], tags: TaggedFieldsCodec | undefined): Read {
  const scope = new Scope(fields)
  const properties = fields.map((each, index) => {
    const value =
      each.place === 'plain'
        ? `(at = ${index}, ${scope.bind(`read${index}`, each.codec.read)}(reader))`
        : defaultSource(each.field, scope)
    return `${identifier(each.name)}: ${value},`
  })
  if (tags !== undefined) scope.bind('readTags', tags.read)
  return scope.compile<Read>(`(reader) => {
    let at = 0
    let value
    try {
      value = {
        ${properties.join('\n        ')}
      }
    } catch (error) {
      throw failed(at, error)
    }
    ${tags === undefined ? '' : 'const tagCount = reader.uvarint()\n    if (tagCount !== 0) readTags(reader, tagCount, value)'}
    return value
  }`)
}

/**
 * For the same struct, `a` being optional as well:
 *
 *     (writer, value) => {
 *       if (value.b !== undefined && !isDefault1(value.b)) throw unsupported(1)
 *       let at = 0
 *       try {
 *         write0(writer, value.a === undefined ? 0 : value.a)
 *       } catch (error) { throw failed(at, error) }
 *       if (value.unknownTags !== undefined) refuseTags(value.unknownTags)
 *     }
 */
export function generateWriter(
  fields: readonly StructField[],
  tags: TaggedFieldsCodec | undefined,
  version: number,
): Write {
  const scope = new Scope(fields)
  scope.bind('unsupported', (index: number) => cannotCarry(fields[index]!.name, version))
  scope.bind('refuseTags', (unknownTags: readonly unknown[]) => {
    if (unknownTags.length > 0) throw cannotCarry('unknownTags', version)
  })
  scope.bind('notAnObject', (value: unknown) => new WriteError(`${String(value)} is not an object`))
  const checks = fields.flatMap((each, index) => {
    if (each.place !== 'absent' || each.field.ignorable) return []
    const given = `value.${identifier(each.name)}`
    return `if (${given} !== undefined && !${scope.bind(`isDefault${index}`, generateDefaultTest(each.field))}(${given})) throw unsupported(${index})`
  })
  const writes = fields.flatMap((each, index) => {
    if (each.place !== 'plain') return []
    const given = `value.${identifier(each.name)}`
    const value = each.field.optional
      ? `${given} === undefined ? ${defaultSource(each.field, scope)} : ${given}`
      : given
    return `at = ${index}; ${scope.bind(`write${index}`, each.codec.write)}(writer, ${value})`
  })
  return scope.compile<Write>(`(writer, value) => {
    if (typeof value !== 'object' || value === null) throw notAnObject(value)
    ${checks.join('\n    ')}
    let at = 0
    try {
      ${writes.join('\n      ')}
    } catch (error) {
      throw failed(at, error)
    }
    ${tags === undefined ? 'if (value.unknownTags !== undefined) refuseTags(value.unknownTags)' : writeTagsSource(fields, tags, scope)}
  }`)
}

/** Nearly every struct has no tagged field to write: that case is one byte, decided without a loop. */
function writeTagsSource(fields: readonly StructField[], tags: TaggedFieldsCodec, scope: Scope): string {
  scope.bind('writeTags', tags.write)
  const conditions = fields.flatMap((each, index) => {
    if (each.place !== 'tagged') return []
    const given = `value.${identifier(each.name)}`
    return `(${given} === undefined || ${scope.bind(`isDefault${index}`, generateDefaultTest(each.field))}(${given}))`
  })
  return `if (${['value.unknownTags === undefined', ...conditions].join(' && ')}) writer.uvarint(0)
    else writeTags(writer, value)`
}

/** A test whether a value is what a reader of a version without the field would see. */
export function generateDefaultTest(field: Field): (value: unknown) => boolean {
  const scope = new Scope([])
  return scope.compile(`(value) => ${isDefaultSource(field, 'value', scope)}`)
}

/** Source of an expression that tells whether `value`, itself source, is the default of `field`. */
function isDefaultSource(field: Field, value: string, scope: Scope): string {
  if (field.makeDefault() === null) return `${value} === null`
  switch (field.kind) {
    case 'array':
    case 'bytes':
    case 'records':
      return `(${value} !== null && ${value}.length === 0)`
    case 'struct': {
      const inner = Object.entries(field.fields!).map(([name, each]) => {
        const given = `${value}.${identifier(name)}`
        return `(${given} === undefined || ${isDefaultSource(each, given, scope)})`
      })
      const tags = `(${value}.unknownTags === undefined || ${value}.unknownTags.length === 0)`
      return `(${[`typeof ${value} === 'object' && ${value} !== null`, ...inner, tags].join(' && ')})`
    }
    default:
      return `${value} === ${defaultSource(field, scope)}`
  }
}

/** Source of an expression that makes a fresh default. */
function defaultSource(field: Field, scope: Scope): string {
  const value = field.makeDefault()
  switch (typeof value) {
    case 'bigint':
      return `${value}n`
    case 'number':
    case 'boolean':
      return String(value)
    case 'string':
      return JSON.stringify(value)
    default:
      if (value === null) return 'null'
      if (field.kind === 'array') return '[]'
      if (field.kind === 'struct') return structSource(field.fields!, scope)
      return scope.bind('noBytes', value)
  }
}

function structSource(fields: Fields, scope: Scope): string {
  const properties = Object.entries(fields).map(
    ([name, field]) => `${identifier(name)}: ${defaultSource(field, scope)}`,
  )
  return `{ ${properties.join(', ')} }`
}

function identifier(name: string): string {
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) throw new TypeError(`a field cannot be named ${JSON.stringify(name)}`)
  return name
}

function cannotCarry(name: string, version: number): FieldFailure {
  return FieldFailure.within(name, new WriteError(`version ${version} cannot carry it`))
}

/** The values that generated source refers to by name. */
class Scope {
  readonly #bound = new Map<string, unknown>()

  constructor(fields: readonly StructField[]) {
    this.bind('failed', (index: number, error: unknown) => FieldFailure.within(fields[index]!.name, error))
  }

  /** Makes `value` known in the source as `name`, and returns the name. */
  bind(name: string, value: unknown): string {
    this.#bound.set(name, value)
    return name
  }

  compile<T>(source: string): T {
    return new Function(...this.#bound.keys(), `'use strict'; return ${source}`)(...this.#bound.values()) as T
  }
}
