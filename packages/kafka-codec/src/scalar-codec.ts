import { type ByteReader, type ByteWriter, ReadError, utf8Length, WriteError } from '@pico/binary'
import type { ScalarKind } from './field.ts'
import type { FieldCodec } from './field-codec.ts'
import {
  cannotWriteNull,
  compactLength,
  int16Length,
  int32Length,
  type LengthPrefix,
  nullNotAllowed,
} from './length-prefix.ts'

/** Kafka holds strings to what an int16 can count, in flexible versions as well. */
const maxStringBytes = 0x7fff

export function scalarCodec(kind: ScalarKind, nullable: boolean, flexible: boolean): FieldCodec {
  switch (kind) {
    case 'string':
      return stringCodec(flexible ? compactLength : int16Length, nullable)
    case 'bytes':
      return bytesCodec(flexible ? compactLength : int32Length, nullable)
    case 'records':
      return recordsCodec(flexible ? compactLength : int32Length, nullable)
    default:
      if (nullable) throw new TypeError(`a field of type ${kind} cannot be null`)
      return fixed[kind]
  }
}

const fixed = {
  boolean: {
    read: (reader) => reader.int8() !== 0,
    write(writer, value) {
      if (typeof value !== 'boolean') throw new WriteError(`${String(value)} is not a boolean`)
      writer.int8(value ? 1 : 0)
    },
    minBytes: 1,
  },
  int8: { read: (reader) => reader.int8(), write: (writer, value) => writer.int8(value as number), minBytes: 1 },
  int16: { read: (reader) => reader.int16(), write: (writer, value) => writer.int16(value as number), minBytes: 2 },
  uint16: { read: (reader) => reader.uint16(), write: (writer, value) => writer.uint16(value as number), minBytes: 2 },
  int32: { read: (reader) => reader.int32(), write: (writer, value) => writer.int32(value as number), minBytes: 4 },
  uint32: { read: (reader) => reader.uint32(), write: (writer, value) => writer.uint32(value as number), minBytes: 4 },
  int64: { read: (reader) => reader.int64(), write: (writer, value) => writer.int64(value as bigint), minBytes: 8 },
  float64: {
    read: (reader) => reader.float64(),
    write: (writer, value) => writer.float64(value as number),
    minBytes: 8,
  },
  uuid: { read: (reader) => reader.uuid(), write: (writer, value) => writer.uuid(value as string), minBytes: 16 },
} satisfies Record<string, FieldCodec>

function stringCodec(prefix: LengthPrefix, nullable: boolean): FieldCodec {
  return {
    read(reader: ByteReader) {
      const length = prefix.read(reader)
      if (length < 0) {
        if (nullable) return null
        throw nullNotAllowed(reader)
      }
      if (length > maxStringBytes) {
        throw new ReadError('PICO_BINARY_BAD_LENGTH', reader.offset, `a string of ${length} bytes`)
      }
      return reader.utf8(length)
    },
    write(writer: ByteWriter, value: unknown) {
      if (value === null) {
        if (!nullable) throw cannotWriteNull()
        prefix.write(writer, -1)
        return
      }
      if (typeof value !== 'string') throw new WriteError(`${String(value)} is not a string`)
      const length = utf8Length(value)
      if (length > maxStringBytes) throw new WriteError(`a string of ${length} bytes; ${maxStringBytes} are allowed`)
      prefix.write(writer, length)
      writer.utf8(value, length)
    },
    minBytes: prefix.minBytes,
  }
}

function bytesCodec(prefix: LengthPrefix, nullable: boolean): FieldCodec {
  return {
    read(reader: ByteReader) {
      const length = prefix.read(reader)
      if (length >= 0) return reader.take(length)
      if (nullable) return null
      throw nullNotAllowed(reader)
    },
    write(writer: ByteWriter, value: unknown) {
      if (value === null) {
        if (!nullable) throw cannotWriteNull()
        prefix.write(writer, -1)
        return
      }
      if (!(value instanceof Uint8Array)) throw new WriteError(`${String(value)} is not a Uint8Array`)
      prefix.write(writer, value.length)
      writer.put(value)
    },
    minBytes: prefix.minBytes,
  }
}

/** Reads as bytes do; writes pieces as well as a whole. */
function recordsCodec(prefix: LengthPrefix, nullable: boolean): FieldCodec {
  const whole = bytesCodec(prefix, nullable)
  return {
    ...whole,
    write(writer: ByteWriter, value: unknown) {
      if (!Array.isArray(value)) {
        whole.write(writer, value)
        return
      }
      let length = 0
      for (const piece of value) {
        if (!(piece instanceof Uint8Array)) throw new WriteError(`${String(piece)} is not a Uint8Array`)
        length += piece.length
      }
      prefix.write(writer, length)
      for (const piece of value) writer.put(piece)
    },
  }
}
