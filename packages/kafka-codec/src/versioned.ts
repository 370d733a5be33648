import { ByteReader, ByteWriter } from '@pico/binary'
import { decodeFailure } from './errors.ts'
import type { Fields, StructInput, StructOf } from './field.ts'
import type { Message } from './message.ts'

/** A message behind its version (int16), as Kafka stores values of its internal topics and as consumers exchange subscriptions. */
export function encodeVersioned<F extends Fields>(
  message: Message<F>,
  version: number,
  value: StructInput<F>,
): Uint8Array {
  const codec = message.version(version)
  const writer = new ByteWriter()
  writer.int16(version)
  codec.write(writer, value)
  return writer.toBytes()
}

/**
 * Reads what `encodeVersioned` writes. A version that is not described throws `CodecError`; with `newerAsLast` a newer
 * one is read as the last that is, and what it has more is left unread.
 */
export function decodeVersioned<F extends Fields>(
  message: Message<F>,
  bytes: Uint8Array,
  options: { readonly newerAsLast?: boolean } = {},
): { version: number; value: StructOf<F> } {
  const reader = new ByteReader(bytes)
  const version = readVersion(message, reader)
  const known = options.newerAsLast ? Math.min(version, message.versions[1]) : version
  return { version, value: message.version(known).read(reader) }
}

function readVersion(message: Message<Fields>, reader: ByteReader): number {
  try {
    return reader.int16()
  } catch (error) {
    throw decodeFailure(message.name, -1, error)
  }
}
