import avro from 'avsc'
import protobuf from 'protobufjs'
import type { SchemaKind } from '../../src/schema.ts'

/** A schema of 20 fields in each kind, and one value of about 1 KiB that it allows. */
export interface TwentyFields {
  readonly kind: SchemaKind
  readonly text: string
  readonly value: Uint8Array
}

const strings = Array.from({ length: 10 }, (_, i) => `text${i}`)
const numbers = Array.from({ length: 6 }, (_, i) => `number${i}`)
const flags = ['flag0', 'flag1']

const sample = {
  id: 1_234_567_890_123,
  ...Object.fromEntries(
    strings.map((name, i) => [name, `${name} ${'lorem ipsum dolor sit amet '.repeat(3)}${i}`.slice(0, 72)]),
  ),
  ...Object.fromEntries(numbers.map((name, i) => [name, 1000.5 * (i + 1)])),
  flag0: true,
  flag1: false,
  tags: ['alpha', 'beta', 'gamma'],
}

export function twentyFields(): TwentyFields[] {
  return [json(), avroOf(), protobufOf()]
}

function json(): TwentyFields {
  const properties = {
    id: { type: 'integer', minimum: 0 },
    ...Object.fromEntries(strings.map((name) => [name, { type: 'string', maxLength: 200 }])),
    ...Object.fromEntries(numbers.map((name) => [name, { type: 'number' }])),
    ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean' }])),
    tags: { type: 'array', items: { type: 'string' } },
  }
  const schema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  return { kind: 'json', text: JSON.stringify(schema), value: new TextEncoder().encode(JSON.stringify(sample)) }
}

function avroOf(): TwentyFields {
  const fields = [
    { name: 'id', type: 'long' },
    ...strings.map((name) => ({ name, type: 'string' })),
    ...numbers.map((name) => ({ name, type: 'double' })),
    ...flags.map((name) => ({ name, type: 'boolean' })),
    { name: 'tags', type: { type: 'array', items: 'string' } },
  ]
  const schema = { type: 'record', name: 'Sample', fields }
  const value = avro.Type.forSchema(schema as avro.Schema).toBuffer(sample)
  return { kind: 'avro', text: JSON.stringify(schema), value }
}

function protobufOf(): TwentyFields {
  const lines = [
    'int64 id',
    ...strings.map((name) => `string ${name}`),
    ...numbers.map((name) => `double ${name}`),
    ...flags.map((name) => `bool ${name}`),
    'repeated string tags',
  ]
  const text = `syntax = "proto3"; message Sample { ${lines.map((line, i) => `${line} = ${i + 1};`).join(' ')} }`
  const type = protobuf.parse(text, { keepCase: true }).root.lookupType('Sample')
  return { kind: 'protobuf', text, value: type.encode(type.fromObject(sample)).finish() }
}
