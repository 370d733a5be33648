import type { ByteReader, ByteWriter } from '@pico/binary'
import { arrayCodec } from './array-codec.ts'
import type { Field } from './field.ts'
import { scalarCodec } from './scalar-codec.ts'
import { nullableStructCodec, structCodec } from './struct-codec.ts'
import { includesVersion } from './version-range.ts'

/** How one field travels at one version of its message. */
export interface FieldCodec {
  read(reader: ByteReader): unknown
  /** Throws whatever is wrong with `value`; the struct around it adds the field's name. */
  write(writer: ByteWriter, value: unknown): void
  /** Fewest bytes that any value takes: bounds the count of an array by the bytes that are left. */
  readonly minBytes: number
}

/** The version of a message that is being compiled. Flexible versions (KIP-482) have compact lengths and tagged fields. */
export interface MessageVersion {
  readonly version: number
  readonly flexible: boolean
}

export function fieldCodec(field: Field, at: MessageVersion): FieldCodec {
  const nullable = field.nullable !== undefined && includesVersion(field.nullable, at.version)
  if (field.kind === 'array') return arrayCodec(fieldCodec(field.element!, at), nullable, at.flexible)
  if (field.kind === 'struct') {
    const codec = structCodec(field.fields!, at)
    return nullable ? nullableStructCodec(codec) : codec
  }
  return scalarCodec(field.kind, nullable, at.flexible)
}
