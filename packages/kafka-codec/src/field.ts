import { zeroUuid } from '@pico/binary'
import type { VersionRange } from './version-range.ts'

/** A tagged field that the declaration does not know. Kept, so that a proxy passes on what a newer peer said. */
export interface UnknownTag {
  readonly tag: number
  readonly bytes: Uint8Array
}

export type ScalarKind =
  | 'boolean'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'float64'
  | 'uuid'
  | 'string'
  | 'bytes'
  | 'records'

/** What is said of a field besides its type. Everything has a default, and a bare `int32()` is there in every version. */
export interface FieldOptions<T> {
  /** Versions in which the field is on the wire; all of the message's if left out. */
  readonly versions?: VersionRange
  /** Versions in which it may be null. */
  readonly nullable?: VersionRange
  /** Value in versions without the field; else zero, `''`, `[]`, no bytes, the zero UUID, or a struct of such. */
  readonly default?: T | null
  /** Number of a tagged field (KIP-482): left off the wire when it has its default value. */
  readonly tag?: number
  /** A value that the version cannot carry is dropped in silence, where otherwise encoding throws. */
  readonly ignorable?: true
}

declare const decoded: unique symbol
declare const accepted: unique symbol

/**
 * One field of a message. `Out` is what decoding gives, `In` what encoding takes, and `Optional` says that encoding
 * takes a value without it: so it is for tagged fields and for those that declare a default.
 */
export interface Field<Out = unknown, In = unknown, Optional extends boolean = boolean> {
  readonly kind: ScalarKind | 'array' | 'struct'
  readonly versions: VersionRange
  readonly nullable: VersionRange | undefined
  readonly tag: number | undefined
  readonly ignorable: boolean
  /** Whether `undefined` stands for the default when encoding. */
  readonly optional: Optional
  /** A fresh default: arrays and structs are never shared between decoded messages. */
  readonly makeDefault: () => unknown
  /** The element of an array. */
  readonly element?: Field
  /** The fields of a struct. */
  readonly fields?: Fields
  readonly [decoded]?: Out
  readonly [accepted]?: In
}

export type Fields = { readonly [name: string]: Field }

type MayCarryUnknownTags = {
  /** Present only if there were any. */
  unknownTags?: readonly UnknownTag[]
}

/** What decoding a struct of these fields gives: every field, whatever the version. */
export type StructOf<F extends Fields> = { -readonly [K in keyof F]: OutOf<F[K]> } & MayCarryUnknownTags

/** What encoding it takes: the same, less what may be left out. */
export type StructInput<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Field<unknown, unknown, true> ? never : K]: InOf<F[K]>
} & {
  readonly [K in keyof F as F[K] extends Field<unknown, unknown, true> ? K : never]?: InOf<F[K]>
} & Readonly<MayCarryUnknownTags>

type OutOf<F> = F extends Field<infer Out, unknown, boolean> ? Out : never
type InOf<F> = F extends Field<unknown, infer In, boolean> ? In : never

/** A field of which nothing more is said. */
type NoOptions = Record<never, never>

type NullIn<O> = O extends { readonly nullable: string } ? null : never
type OptionalIn<O> = O extends { readonly tag: number } | { readonly default: unknown } ? true : false
type Scalar<T, O> = Field<T | NullIn<O>, T | NullIn<O>, OptionalIn<O>>

export function boolean<const O extends FieldOptions<boolean> = NoOptions>(options?: O): Scalar<boolean, O> {
  return scalar('boolean', false, options)
}

export function int8<const O extends FieldOptions<number> = NoOptions>(options?: O): Scalar<number, O> {
  return scalar('int8', 0, options)
}

export function int16<const O extends FieldOptions<number> = NoOptions>(options?: O): Scalar<number, O> {
  return scalar('int16', 0, options)
}

export function uint16<const O extends FieldOptions<number> = NoOptions>(options?: O): Scalar<number, O> {
  return scalar('uint16', 0, options)
}

export function int32<const O extends FieldOptions<number> = NoOptions>(options?: O): Scalar<number, O> {
  return scalar('int32', 0, options)
}

export function uint32<const O extends FieldOptions<number> = NoOptions>(options?: O): Scalar<number, O> {
  return scalar('uint32', 0, options)
}

export function int64<const O extends FieldOptions<bigint> = NoOptions>(options?: O): Scalar<bigint, O> {
  return scalar('int64', 0n, options)
}

export function float64<const O extends FieldOptions<number> = NoOptions>(options?: O): Scalar<number, O> {
  return scalar('float64', 0, options)
}

/** Canonical lower-case text, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`; the default is `zeroUuid`. */
export function uuid<const O extends FieldOptions<string> = NoOptions>(options?: O): Scalar<string, O> {
  return scalar('uuid', zeroUuid, options)
}

/** At most 32,767 bytes of UTF-8. */
export function string<const O extends FieldOptions<string> = NoOptions>(options?: O): Scalar<string, O> {
  return scalar('string', '', options)
}

/** Decodes to a view of the input; encoding takes long ones by reference. */
export function bytes<const O extends FieldOptions<Uint8Array> = NoOptions>(options?: O): Scalar<Uint8Array, O> {
  return scalar('bytes', noBytes, options)
}

/**
 * Record batches as stored: on the wire the same as `bytes`. Encoding takes them in pieces as well, back to back, so that batches which
 * lie in several places need not be put together first.
 */
export function records<const O extends FieldOptions<Uint8Array> = NoOptions>(
  options?: O,
): Field<Uint8Array | NullIn<O>, Uint8Array | readonly Uint8Array[] | NullIn<O>, OptionalIn<O>> {
  return scalar('records', noBytes, options)
}

/** `element` is a field, or the fields of a struct: `array(int32())`, `array({ name: string() })`. */
export function array<F extends Fields, const O extends FieldOptions<[]> = NoOptions>(
  element: F,
  options?: O,
): Field<StructOf<F>[] | NullIn<O>, readonly StructInput<F>[] | NullIn<O>, OptionalIn<O>>
export function array<Out, In, const O extends FieldOptions<[]> = NoOptions>(
  element: Field<Out, In>,
  options?: O,
): Field<Out[] | NullIn<O>, readonly In[] | NullIn<O>, OptionalIn<O>>
export function array(element: Field | Fields, options: FieldOptions<[]> = {}): Field {
  const ofStruct = typeof element['kind'] !== 'string'
  const makeDefault = options.default === null ? () => null : () => []
  return {
    ...common('array', options),
    makeDefault,
    element: ofStruct ? struct(element as Fields) : (element as Field),
  }
}

export function struct<F extends Fields, const O extends FieldOptions<never> = NoOptions>(
  fields: F,
  options?: O,
): Field<StructOf<F> | NullIn<O>, StructInput<F> | NullIn<O>, OptionalIn<O>>
export function struct(fields: Fields, options: FieldOptions<never> = {}): Field {
  const makeDefault = options.default === null ? () => null : () => defaultStruct(fields)
  return { ...common('struct', options), makeDefault, fields }
}

/** Every field at its default. */
export function defaultStruct(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.makeDefault()]))
}

const noBytes: Uint8Array = new Uint8Array(0)

function scalar<T, O extends FieldOptions<T>>(kind: ScalarKind, zero: T, options?: O): Scalar<T, O> {
  const value = options?.default === undefined ? zero : options.default
  return { ...common<T>(kind, options), makeDefault: () => value } as Scalar<T, O>
}

function common<T>(kind: Field['kind'], options: FieldOptions<T> = {}) {
  return {
    kind,
    versions: options.versions ?? '0+',
    nullable: options.nullable,
    tag: options.tag,
    ignorable: options.ignorable ?? false,
    optional: options.tag !== undefined || options.default !== undefined,
  } as const
}
