import { type ByteReader, type ByteWriter, ReadError, WriteError } from '@pico/binary'

/**
 * The lengths before strings, bytes and arrays; -1 stands for null. Flexible versions write `length + 1` as an unsigned
 * varint, so that null is 0 (KIP-482); older ones write a signed int16 (strings) or int32 (the rest).
 */
export interface LengthPrefix {
  read(reader: ByteReader): number
  write(writer: ByteWriter, length: number): void
  readonly minBytes: number
}

export const compactLength: LengthPrefix = {
  read: (reader) => reader.uvarint() - 1,
  write: (writer, length) => writer.uvarint(length + 1),
  minBytes: 1,
}

/** A negative length is null in Kafka's own reader too, not only -1. */
export const int16Length: LengthPrefix = {
  read: (reader) => Math.max(reader.int16(), -1),
  write: (writer, length) => writer.int16(length),
  minBytes: 2,
}

export const int32Length: LengthPrefix = {
  read: (reader) => Math.max(reader.int32(), -1),
  write: (writer, length) => writer.int32(length),
  minBytes: 4,
}

export function nullNotAllowed(reader: ByteReader): ReadError {
  return new ReadError('PICO_BINARY_BAD_LENGTH', reader.offset, 'null in a field that is not nullable')
}

export function cannotWriteNull(): WriteError {
  return new WriteError('null in a field that is not nullable')
}
