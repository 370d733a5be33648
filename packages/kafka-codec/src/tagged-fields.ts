import { type ByteReader, ByteWriter, ReadError, WriteError } from '@pico/binary'
import { FieldFailure } from './errors.ts'
import type { Field, UnknownTag } from './field.ts'
import type { FieldCodec } from './field-codec.ts'
import { generateDefaultTest } from './struct-source.ts'

/** A struct as far as its tagged fields go. */
export type TaggedStruct = { unknownTags?: readonly UnknownTag[]; [name: string]: unknown }

export interface TaggedField {
  readonly name: string
  readonly tag: number
  readonly field: Field
  readonly codec: FieldCodec
}

/** The section that ends every struct of a flexible version (KIP-482): count, then tag, size and value of each, tags ascending. */
export interface TaggedFieldsCodec {
  /** Reads `count` fields, the count itself being read: known ones into `struct`, others into its `unknownTags`. */
  read(reader: ByteReader, count: number, struct: TaggedStruct): void
  write(writer: ByteWriter, struct: TaggedStruct): void
}

export function taggedFieldsCodec(known: readonly TaggedField[]): TaggedFieldsCodec {
  const byTag = new Map(known.map((entry) => [entry.tag, entry]))
  const ascending = known
    .map((entry) => ({ ...entry, isDefault: generateDefaultTest(entry.field) }))
    .toSorted((a, b) => a.tag - b.tag)

  return {
    read(reader, count, struct) {
      const unknown: UnknownTag[] = []
      let previous = -1
      for (let index = 0; index < count; index++) {
        const at = reader.offset
        const tag = reader.uvarint()
        // A repeated tag would let the last one win in silence, and two readers might disagree on which it is.
        if (tag <= previous) throw new ReadError('PICO_BINARY_BAD_LENGTH', at, `tag ${tag} after tag ${previous}`)
        previous = tag
        const size = reader.uvarint()
        const entry = byTag.get(tag)
        if (entry === undefined) unknown.push({ tag, bytes: reader.take(size) })
        else struct[entry.name] = readSized(reader, size, entry)
      }
      if (unknown.length > 0) struct.unknownTags = unknown
    },

    write(writer, struct) {
      const given = ascending.filter(({ name, isDefault }) => struct[name] !== undefined && !isDefault(struct[name]))
      const sections = [
        ...given.map((entry) => ({ tag: entry.tag, write: () => writeSized(writer, entry, struct[entry.name]) })),
        ...(struct.unknownTags ?? []).map(({ tag, bytes }) => ({ tag, write: () => writeRaw(writer, bytes) })),
      ].sort((a, b) => a.tag - b.tag)
      writer.uvarint(sections.length)
      let previous = -1
      for (const { tag, write } of sections) {
        if (tag === previous) throw FieldFailure.within('unknownTags', new WriteError(`tag ${tag} twice`))
        previous = tag
        writer.uvarint(tag)
        write()
      }
    },
  }
}

function readSized(reader: ByteReader, size: number, { name, codec }: TaggedField): unknown {
  const start = reader.offset
  try {
    const value = codec.read(reader)
    if (reader.offset - start === size) return value
    throw new ReadError('PICO_BINARY_BAD_LENGTH', start, `${reader.offset - start} bytes where ${size} were announced`)
  } catch (error) {
    throw FieldFailure.within(name, error)
  }
}

function writeSized(writer: ByteWriter, { name, codec }: TaggedField, value: unknown): void {
  const body = new ByteWriter()
  try {
    codec.write(body, value)
  } catch (error) {
    throw FieldFailure.within(name, error)
  }
  writer.uvarint(body.length)
  writer.append(body)
}

function writeRaw(writer: ByteWriter, bytes: Uint8Array): void {
  writer.uvarint(bytes.length)
  writer.put(bytes)
}
