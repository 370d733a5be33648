import { type ByteReader, type ByteWriter, ReadError, WriteError } from '@pico/binary'
import { FieldFailure } from './errors.ts'
import type { FieldCodec } from './field-codec.ts'
import { cannotWriteNull, compactLength, int32Length, nullNotAllowed } from './length-prefix.ts'

export function arrayCodec(element: FieldCodec, nullable: boolean, flexible: boolean): FieldCodec {
  const prefix = flexible ? compactLength : int32Length
  return {
    read(reader: ByteReader) {
      const count = prefix.read(reader)
      if (count < 0) {
        if (nullable) return null
        throw nullNotAllowed(reader)
      }
      // Kafka refuses a count that the remaining bytes cannot hold; without this, 4 bytes could claim 2^31 elements.
      if (count * Math.max(element.minBytes, 1) > reader.remaining) {
        throw new ReadError('PICO_BINARY_BAD_LENGTH', reader.offset, `${count} elements in ${reader.remaining} bytes`)
      }
      const values: unknown[] = []
      try {
        while (values.length < count) values.push(element.read(reader))
      } catch (error) {
        throw FieldFailure.within(`[${values.length}]`, error)
      }
      return values
    },
    write(writer: ByteWriter, value: unknown) {
      if (value === null) {
        if (!nullable) throw cannotWriteNull()
        prefix.write(writer, -1)
        return
      }
      if (!Array.isArray(value)) throw new WriteError(`${String(value)} is not an array`)
      prefix.write(writer, value.length)
      let index = 0
      try {
        for (; index < value.length; index++) element.write(writer, value[index])
      } catch (error) {
        throw FieldFailure.within(`[${index}]`, error)
      }
    },
    minBytes: prefix.minBytes,
  }
}
