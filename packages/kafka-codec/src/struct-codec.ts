import type { ByteReader, ByteWriter } from '@pico/binary'
import type { Field, Fields } from './field.ts'
import { type FieldCodec, fieldCodec, type MessageVersion } from './field-codec.ts'
import { generateReader, generateWriter } from './struct-source.ts'
import { taggedFieldsCodec } from './tagged-fields.ts'
import { includesVersion } from './version-range.ts'

/** One field of a struct at one version of its message. */
export type StructField = {
  readonly name: string
  readonly field: Field
} & (
  | { readonly place: 'plain'; readonly codec: FieldCodec }
  | { readonly place: 'tagged'; readonly tag: number; readonly codec: FieldCodec }
  /** This version does not carry it. */
  | { readonly place: 'absent' }
)

/**
 * A struct is its plain fields in order of declaration; in flexible versions the section of tagged fields follows.
 * Reader and writer are generated functions: see `struct-source.ts`.
 */
export function structCodec(fields: Fields, at: MessageVersion): FieldCodec {
  const all = Object.entries(fields).map(([name, field]) => structField(name, field, at))
  const tagged = all.filter((each) => each.place === 'tagged')
  if (tagged.length > 0 && !at.flexible) throw new TypeError('tagged fields need a flexible version')
  const tags = at.flexible ? taggedFieldsCodec(tagged) : undefined
  const plainBytes = all.reduce((sum, each) => sum + (each.place === 'plain' ? each.codec.minBytes : 0), 0)
  return {
    read: generateReader(all, tags),
    write: generateWriter(all, tags, at.version),
    minBytes: plainBytes + (at.flexible ? 1 : 0),
  }
}

function structField(name: string, field: Field, at: MessageVersion): StructField {
  if (!includesVersion(field.versions, at.version)) return { name, field, place: 'absent' }
  const codec = fieldCodec(field, at)
  if (field.tag === undefined) return { name, field, place: 'plain', codec }
  return { name, field, place: 'tagged', tag: field.tag, codec }
}

/** A nullable struct has a byte before it: 1 for a value, -1 for null. */
export function nullableStructCodec(struct: FieldCodec): FieldCodec {
  return {
    read: (reader: ByteReader) => (reader.int8() < 0 ? null : struct.read(reader)),
    write(writer: ByteWriter, value: unknown) {
      writer.int8(value === null ? -1 : 1)
      if (value !== null) struct.write(writer, value)
    },
    minBytes: 1,
  }
}
