/** A schema of each kind for the same record, `{ id, name, state }`, and values that are as it wants them and that are not. */
export interface KindUnderTest {
  readonly kind: 'json' | 'avro' | 'protobuf'
  readonly text: string
  /** Two of them differ. */
  valid(id: number): Buffer
  /** Whole, and wrong. */
  readonly invalid: Buffer
  /** What comes between Confluent's schema id and the value. */
  readonly afterId: Buffer
}

const none = Buffer.alloc(0)
const states = ['open', 'done'] as const

const json: KindUnderTest = {
  kind: 'json',
  text: JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { id: { type: 'integer' }, name: { type: 'string', minLength: 3 }, state: { enum: states } },
    required: ['id', 'name', 'state'],
    additionalProperties: false,
  }),
  // The space is part of the bytes that have to come back.
  valid: (id) => Buffer.from(`{"id": ${id},"name":"ñandú","state":"open"}`),
  invalid: Buffer.from('{"id":1,"name":"ñandú","state":"lost"}'),
  afterId: none,
}

const avro: KindUnderTest = {
  kind: 'avro',
  text: JSON.stringify({
    type: 'record',
    name: 'Order',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'name', type: 'string' },
      { name: 'state', type: { type: 'enum', name: 'State', symbols: states } },
    ],
  }),
  valid: (id) => Buffer.concat([varint(2 * id), avroText('ñandú'), varint(0)]),
  // An enum of two has no third.
  invalid: Buffer.concat([varint(2), avroText('ñandú'), varint(4)]),
  afterId: none,
}

const protobuf: KindUnderTest = {
  kind: 'protobuf',
  text: `syntax = "proto3";
    enum State { OPEN = 0; DONE = 1; }
    message Order { int64 id = 1; string name = 2; State state = 3; }`,
  valid: (id) => Buffer.concat([Buffer.from([0x08]), varint(id), protobufText(2, Buffer.from('ñandú'))]),
  // Text of proto3 is UTF-8.
  invalid: Buffer.concat([Buffer.from([0x08]), varint(1), protobufText(2, Buffer.from([0xc3, 0x28]))]),
  // The first message of the file, whose list of indexes is written as nothing but a zero.
  afterId: Buffer.from([0]),
}

export const kindsUnderTest: readonly KindUnderTest[] = [json, avro, protobuf]

/** As Confluent's serializers write it. */
export function framed({ afterId }: KindUnderTest, schemaId: number, value: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeInt32BE(schemaId, 1)
  return Buffer.concat([head, afterId, value])
}

/** Without its last byte but one and what follows: every kind notices. */
export function truncated(value: Uint8Array): Buffer {
  return Buffer.from(value.subarray(0, value.length - 2))
}

export function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80)
  return Buffer.from([...bytes, left])
}

function avroText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([varint(2 * bytes.length), bytes])
}

function protobufText(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}
