import { type ByteReader, type ByteWriter, WriteError } from '@pico/binary'
import { FieldFailure } from './errors.ts'
import type { Field, Fields, UnknownTag } from './field.ts'
import { type FieldCodec, fieldCodec, type MessageVersion } from './field-codec.ts'
import { isDefault } from './is-default.ts'
import { type TaggedField, type TaggedStruct, taggedFieldsCodec } from './tagged-fields.ts'
import { includesVersion } from './version-range.ts'

interface FieldAtVersion {
  readonly name: string
  readonly field: Field
  /** Undefined if the field is not among the plain ones of this version: absent, or tagged. */
  readonly codec: FieldCodec | undefined
}

export function structCodec(fields: Fields, at: MessageVersion): FieldCodec {
  const all: FieldAtVersion[] = []
  const tagged: TaggedField[] = []
  for (const [name, field] of Object.entries(fields)) {
    const present = includesVersion(field.versions, at.version)
    const codec = present ? fieldCodec(field, at) : undefined
    if (codec !== undefined && field.tag !== undefined) tagged.push({ name, field, tag: field.tag, codec })
    all.push({ name, field, codec: field.tag === undefined ? codec : undefined })
  }
  if (tagged.length > 0 && !at.flexible) throw new TypeError('tagged fields need a flexible version')
  const tags = at.flexible ? taggedFieldsCodec(tagged) : undefined
  const unsupported = all.filter(({ field }) => !field.ignorable && !includesVersion(field.versions, at.version))
  const plain = all.filter(({ codec }) => codec !== undefined)
  const minBytes = plain.reduce((sum, { codec }) => sum + codec!.minBytes, at.flexible ? 1 : 0)

  return {
    read(reader: ByteReader) {
      const value: TaggedStruct = {}
      let index = 0
      try {
        for (; index < all.length; index++) {
          const { name, field, codec } = all[index]!
          value[name] = codec === undefined ? field.makeDefault() : codec.read(reader)
        }
      } catch (error) {
        throw FieldFailure.within(all[index]!.name, error)
      }
      tags?.read(reader, value)
      return value
    },
    write(writer: ByteWriter, value: unknown) {
      if (typeof value !== 'object' || value === null) throw new WriteError(`${String(value)} is not an object`)
      const struct = value as TaggedStruct
      for (const { name, field } of unsupported) {
        if (struct[name] === undefined || isDefault(field, struct[name])) continue
        throw FieldFailure.within(name, new WriteError(`version ${at.version} cannot carry it`))
      }
      let index = 0
      try {
        for (; index < plain.length; index++) {
          const { name, field, codec } = plain[index]!
          const given = struct[name]
          codec!.write(writer, given === undefined && field.optional ? field.makeDefault() : given)
        }
      } catch (error) {
        throw FieldFailure.within(plain[index]!.name, error)
      }
      if (tags !== undefined) tags.write(writer, struct)
      else if (struct.unknownTags !== undefined) refuseUnknownTags(struct.unknownTags, at)
    },
    minBytes,
  }
}

/** A nullable struct has a byte before it: 1 for a value, -1 for null. */
export function nullableStructCodec(struct: FieldCodec): FieldCodec {
  return {
    read: (reader) => (reader.int8() < 0 ? null : struct.read(reader)),
    write(writer, value) {
      writer.int8(value === null ? -1 : 1)
      if (value !== null) struct.write(writer, value)
    },
    minBytes: 1,
  }
}

function refuseUnknownTags(unknownTags: readonly UnknownTag[], at: MessageVersion): void {
  if (unknownTags.length === 0) return
  throw FieldFailure.within('unknownTags', new WriteError(`version ${at.version} cannot carry tagged fields`))
}
