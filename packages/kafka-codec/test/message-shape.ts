import type { Field, Fields } from '../src/field.ts'
import { includesVersion, type VersionRange } from '../src/version-range.ts'

/** One field at one version, in terms in which our declarations and Kafka's descriptions can be compared. */
export interface FieldShape {
  readonly name: string
  /** `int32`, `[]string`, `struct`, `[]struct`. */
  readonly type: string
  readonly nullable: boolean
  readonly tag: number | undefined
  readonly default: string
  readonly ignorable: boolean
  readonly fields: readonly FieldShape[]
}

/** A field in one of Kafka's `common/message/*.json`. */
interface KafkaField {
  readonly name: string
  readonly type: string
  readonly versions: string
  readonly nullableVersions?: string
  readonly taggedVersions?: string
  readonly tag?: number
  readonly default?: string | number | boolean
  readonly ignorable?: boolean | string
  readonly fields?: readonly KafkaField[]
}

export interface KafkaDescription {
  readonly apiKey?: number
  readonly type: string
  readonly name: string
  readonly validVersions: string
  readonly flexibleVersions?: string
  readonly fields: readonly KafkaField[]
  readonly commonStructs?: readonly { readonly name: string; readonly fields: readonly KafkaField[] }[]
}

/** Reads a description: JSON with `//` comments on lines of their own. */
export function parseDescription(text: string): KafkaDescription {
  return JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, '')) as KafkaDescription
}

export function ourShape(fields: Fields, version: number): FieldShape[] {
  return Object.entries(fields)
    .filter(([, field]) => includesVersion(field.versions, version))
    .map(([name, field]) => ({
      name,
      type: field.kind === 'array' ? `[]${field.element!.kind}` : field.kind,
      nullable: field.nullable !== undefined && includesVersion(field.nullable, version),
      tag: field.tag,
      default: ourDefault(field),
      ignorable: field.ignorable,
      fields: ourShape(field.fields ?? field.element?.fields ?? {}, version),
    }))
}

function ourDefault(field: Field): string {
  const value = field.makeDefault()
  if (value === null) return 'null'
  if (field.kind === 'struct') return 'struct'
  if (value instanceof Uint8Array) return `${value.length} bytes`
  return Array.isArray(value) ? `${value.length} elements` : String(value)
}

export function kafkaShape(description: KafkaDescription, version: number): FieldShape[] {
  const structs = new Map((description.commonStructs ?? []).map(({ name, fields }) => [name, fields]))
  return shapes(description.fields, version, structs)
}

function shapes(
  fields: readonly KafkaField[],
  version: number,
  structs: ReadonlyMap<string, readonly KafkaField[]>,
): FieldShape[] {
  return fields
    .filter((field) => includes(field.versions, version))
    .map((field) => {
      const array = field.type.startsWith('[]') ? '[]' : ''
      const element = field.type.slice(array.length)
      const inner = field.fields ?? structs.get(element)
      const type = inner === undefined ? element.replace('bool', 'boolean') : 'struct'
      return {
        name: field.name.charAt(0).toLowerCase() + field.name.slice(1),
        type: array + type,
        nullable: includes(field.nullableVersions, version),
        tag: includes(field.taggedVersions, version) ? field.tag : undefined,
        default: kafkaDefault(array + type, field.default),
        ignorable: String(field.ignorable) === 'true',
        fields: shapes(inner ?? [], version, structs),
      }
    })
}

function kafkaDefault(type: string, given: KafkaField['default']): string {
  if (given === 'null') return 'null'
  if (type === 'struct') return 'struct'
  if (type.startsWith('[]')) return '0 elements'
  if (type === 'bytes' || type === 'records') return '0 bytes'
  if (type === 'uuid') return '00000000-0000-0000-0000-000000000000'
  if (type === 'string') return String(given ?? '')
  if (type === 'boolean') return String(given ?? false)
  if (type === 'float64') return String(Number(given ?? 0))
  return String(BigInt(given ?? 0))
}

/** As `includesVersion`, for what the descriptions also say: nothing, or `none`. */
export function includes(range: string | undefined, version: number): boolean {
  return range !== undefined && range !== 'none' && includesVersion(range as VersionRange, version)
}
