import { Seeded } from '../cross/seeded.ts'
import { varint } from './kinds.ts'

/** A schema of twenty fields of each kind: ten texts, five integers, three numbers, a truth value and one of a few words. */
export interface WideSchema {
  readonly kind: 'json' | 'avro' | 'protobuf'
  readonly text: string
  encode(record: WideRecord): Buffer
}

export interface WideRecord {
  readonly texts: readonly string[]
  readonly integers: readonly number[]
  readonly numbers: readonly number[]
  readonly truth: boolean
  /** Of `words`. */
  readonly word: number
}

const words = ['new', 'paid', 'sent', 'done'] as const
const indexes = (count: number) => Array.from({ length: count }, (_, index) => index)
const [texts, integers, numbers] = [indexes(10), indexes(5), indexes(3)]

const json: WideSchema = {
  kind: 'json',
  text: JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      ...Object.fromEntries(texts.map((at) => [`text${at}`, { type: 'string', maxLength: 100 }])),
      ...Object.fromEntries(integers.map((at) => [`integer${at}`, { type: 'integer', minimum: 0 }])),
      ...Object.fromEntries(numbers.map((at) => [`number${at}`, { type: 'number' }])),
      truth: { type: 'boolean' },
      word: { enum: words },
    },
    required: [...texts.map((at) => `text${at}`), 'truth', 'word'],
    additionalProperties: false,
  }),
  encode: (record) =>
    Buffer.from(
      JSON.stringify({
        ...Object.fromEntries(record.texts.map((value, at) => [`text${at}`, value])),
        ...Object.fromEntries(record.integers.map((value, at) => [`integer${at}`, value])),
        ...Object.fromEntries(record.numbers.map((value, at) => [`number${at}`, value])),
        truth: record.truth,
        word: words[record.word],
      }),
    ),
}

const avro: WideSchema = {
  kind: 'avro',
  text: JSON.stringify({
    type: 'record',
    name: 'Wide',
    fields: [
      ...texts.map((at) => ({ name: `text${at}`, type: 'string' })),
      ...integers.map((at) => ({ name: `integer${at}`, type: 'long' })),
      ...numbers.map((at) => ({ name: `number${at}`, type: 'double' })),
      { name: 'truth', type: 'boolean' },
      { name: 'word', type: { type: 'enum', name: 'Word', symbols: words } },
    ],
  }),
  encode: (record) =>
    Buffer.concat([
      ...record.texts.flatMap((value) => [varint(2 * Buffer.byteLength(value)), Buffer.from(value)]),
      ...record.integers.map((value) => varint(2 * value)),
      ...record.numbers.map(double),
      Buffer.from([record.truth ? 1 : 0]),
      varint(2 * record.word),
    ]),
}

const protobuf: WideSchema = {
  kind: 'protobuf',
  text: `syntax = "proto3";
    enum Word { ${words.map((word, at) => `${word.toUpperCase()} = ${at};`).join(' ')} }
    message Wide {
      ${texts.map((at) => `string text${at} = ${at + 1};`).join('\n')}
      ${integers.map((at) => `int64 integer${at} = ${at + 11};`).join('\n')}
      ${numbers.map((at) => `double number${at} = ${at + 16};`).join('\n')}
      bool truth = 19;
      Word word = 20;
    }`,
  encode: (record) =>
    Buffer.concat([
      ...record.texts.flatMap((value, at) => [tag(at + 1, 2), varint(Buffer.byteLength(value)), Buffer.from(value)]),
      ...record.integers.flatMap((value, at) => [tag(at + 11, 0), varint(value)]),
      ...record.numbers.flatMap((value, at) => [tag(at + 16, 1), double(value)]),
      ...[tag(19, 0), Buffer.from([record.truth ? 1 : 0]), tag(20, 0), varint(record.word)],
    ]),
}

export const wideSchemas: readonly WideSchema[] = [json, avro, protobuf]

export function wideRecords(count: number): WideRecord[] {
  const random = new Seeded(20)
  return indexes(count).map(() => ({
    texts: texts.map(() =>
      random
        .whole(0, 2 ** 31)
        .toString(36)
        .repeat(2),
    ),
    integers: integers.map(() => random.whole(0, 2 ** 31)),
    numbers: numbers.map(() => random.whole(0, 2 ** 31) / 1000),
    truth: random.whole(0, 1) === 1,
    word: random.whole(0, words.length - 1),
  }))
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

function tag(field: number, wireType: number): Buffer {
  return varint(field * 8 + wireType)
}
