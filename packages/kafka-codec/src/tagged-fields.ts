import { type ByteReader, ByteWriter, ReadError, WriteError } from '@pico/binary'
import { FieldFailure } from './errors.ts'
import type { Field, UnknownTag } from './field.ts'
import type { FieldCodec } from './field-codec.ts'
import { isDefault } from './is-default.ts'

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
  /** Fills in the known fields of `struct`, and `unknownTags` if there are any others. */
  read(reader: ByteReader, struct: TaggedStruct): void
  write(writer: ByteWriter, struct: TaggedStruct): void
}

export function taggedFieldsCodec(known: readonly TaggedField[]): TaggedFieldsCodec {
  const byTag = new Map(known.map((entry) => [entry.tag, entry]))
  const ascending = known.toSorted((a, b) => a.tag - b.tag)
  return {
    read(reader, struct) {
      const count = reader.uvarint()
      if (count !== 0) readTagged(reader, count, byTag, struct)
    },
    write(writer, struct) {
      const unknown = struct.unknownTags ?? none
      if (known.length === 0 && unknown.length === 0) {
        writer.uvarint(0)
        return
      }
      writeTagged(writer, ascending, unknown, struct)
    },
  }
}

const none: readonly UnknownTag[] = []

function readTagged(
  reader: ByteReader,
  count: number,
  byTag: ReadonlyMap<number, TaggedField>,
  struct: TaggedStruct,
): void {
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

function writeTagged(
  writer: ByteWriter,
  known: readonly TaggedField[],
  unknown: readonly UnknownTag[],
  struct: TaggedStruct,
): void {
  const given = known.filter(({ name, field }) => struct[name] !== undefined && !isDefault(field, struct[name]))
  const sections = [
    ...given.map((entry) => ({ tag: entry.tag, write: (to: ByteWriter) => writeSized(to, entry, struct[entry.name]) })),
    ...unknown.map(({ tag, bytes }) => ({ tag, write: (to: ByteWriter) => writeRaw(to, bytes) })),
  ].sort((a, b) => a.tag - b.tag)
  writer.uvarint(sections.length)
  let previous = -1
  for (const { tag, write } of sections) {
    if (tag === previous) throw FieldFailure.within('unknownTags', new WriteError(`tag ${tag} twice`))
    previous = tag
    writer.uvarint(tag)
    write(writer)
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
