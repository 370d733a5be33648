/** An Avro schema as it is understood: names resolved, so that types may contain themselves. */

export const primitives = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const
export type Primitive = (typeof primitives)[number]

export type AvroType = PrimitiveType | RecordType | EnumType | FixedType | ArrayType | MapType | UnionType

/** What a type says beside what it is: `doc`, logical types and whatever else, which means nothing to a value's bytes. */
export type Attributes = Readonly<Record<string, unknown>>

export interface PrimitiveType {
  readonly kind: Primitive
  readonly attributes: Attributes
}

interface Named {
  /** With its namespace. */
  readonly fullName: string
  readonly aliases: readonly string[]
  readonly attributes: Attributes
}

export interface RecordType extends Named {
  readonly kind: 'record'
  /** Filled in after the type is known by name. */
  readonly fields: RecordField[]
}

export interface RecordField {
  readonly name: string
  readonly aliases: readonly string[]
  readonly type: AvroType
  readonly hasDefault: boolean
  readonly default: unknown
  readonly attributes: Attributes
}

export interface EnumType extends Named {
  readonly kind: 'enum'
  readonly symbols: readonly string[]
  /** What a reader takes a symbol for that it does not know. */
  readonly default: string | null
}

export interface FixedType extends Named {
  readonly kind: 'fixed'
  /** Bytes. */
  readonly size: number
}

export interface ArrayType {
  readonly kind: 'array'
  readonly items: AvroType
  readonly attributes: Attributes
}

export interface MapType {
  readonly kind: 'map'
  readonly values: AvroType
  readonly attributes: Attributes
}

export interface UnionType {
  readonly kind: 'union'
  readonly branches: readonly AvroType[]
}

/** What a type is called where it is told from others: named types by name, the rest by kind. */
export function typeName(type: AvroType): string {
  return 'fullName' in type ? type.fullName : type.kind
}

export function simpleName(fullName: string): string {
  return fullName.slice(fullName.lastIndexOf('.') + 1)
}
