import { ByteReader, ByteWriter, ReadError } from '@pico/binary'
import { CodecError, decodeFailure, encodeFailure } from './errors.ts'
import type { Fields, StructInput, StructOf } from './field.ts'
import { structCodec } from './struct-codec.ts'

/** Reads and writes one version of one message. Every failure is a `CodecError`. */
export interface Codec<Out, In = Out> {
  /** `Produce request`, `ConsumerProtocolSubscription`. */
  readonly name: string
  readonly version: number
  /** Whether this version has compact lengths and tagged fields (KIP-482). */
  readonly flexible: boolean
  /** Byte fields of the result are views of the reader's bytes. What follows the message is left unread. */
  read(reader: ByteReader): Out
  /** Long byte fields are taken by reference: see `ByteWriter`. After an error the writer holds half a message: drop it. */
  write(writer: ByteWriter, value: In): void
  /** Decodes `bytes` as exactly one message: bytes left over are an error. */
  decode(bytes: Uint8Array): Out
  encode(value: In): Uint8Array
}

export interface MessageDeclaration<F extends Fields> {
  readonly name: string
  /** First and last version. */
  readonly versions: readonly [first: number, last: number]
  /** First flexible version; none if left out. */
  readonly flexibleFrom?: number
  readonly fields: F
}

export interface Message<F extends Fields> extends MessageDeclaration<F> {
  /** The codec of one version: compiled on first use, then the same object. Throws `CodecError` if there is no such version. */
  version(version: number): Codec<StructOf<F>, StructInput<F>>
}

/** What decoding a message gives. */
export type MessageOf<M extends MessageDeclaration<Fields>> = StructOf<M['fields']>

/** Declares a message that stands alone, such as a record that Kafka keeps in a topic. */
export function message<const F extends Fields>(declaration: MessageDeclaration<F>): Message<F> {
  const compiled = new Map<number, Codec<StructOf<F>, StructInput<F>>>()
  return {
    ...declaration,
    version(version) {
      let codec = compiled.get(version)
      if (codec === undefined) {
        codec = compile(declaration, version)
        compiled.set(version, codec)
      }
      return codec
    },
  }
}

function compile<F extends Fields>(
  { name, versions: [first, last], flexibleFrom, fields }: MessageDeclaration<F>,
  version: number,
): Codec<StructOf<F>, StructInput<F>> {
  if (!Number.isInteger(version) || version < first || version > last) {
    throw new CodecError('PICO_KAFKA_UNSUPPORTED_VERSION', name, version, '', `versions ${first} to ${last} exist`)
  }
  const flexible = flexibleFrom !== undefined && version >= flexibleFrom
  const body = structCodec(fields, { version, flexible })

  function read(reader: ByteReader): StructOf<F> {
    try {
      return body.read(reader) as StructOf<F>
    } catch (error) {
      throw decodeFailure(name, version, error)
    }
  }

  function write(writer: ByteWriter, value: StructInput<F>): void {
    try {
      body.write(writer, value)
    } catch (error) {
      throw encodeFailure(name, version, error)
    }
  }

  return {
    name,
    version,
    flexible,
    read,
    write,
    decode(bytes) {
      const reader = new ByteReader(bytes)
      const value = read(reader)
      if (reader.remaining === 0) return value
      const leftOver = new ReadError('PICO_BINARY_BAD_LENGTH', reader.offset, `${reader.remaining} bytes left over`)
      throw decodeFailure(name, version, leftOver)
    },
    encode(value) {
      const writer = new ByteWriter()
      write(writer, value)
      return writer.toBytes()
    },
  }
}
