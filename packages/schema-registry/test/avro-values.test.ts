import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAvroKind } from '../src/kinds/avro/avro-kind.ts'
import { fastavroOrder } from './golden/avro-order.ts'
import { checkOf } from './schemas-under-test.ts'

const kind = createAvroKind()
const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe('values written by fastavro', () => {
  const check = checkOf(kind, 'avro', fastavroOrder.schema)

  test.for(Object.entries(fastavroOrder.values))('%s is valid, and no part of it is', ([, value]) => {
    const bytes = hex(value)
    expect(check(bytes)).toBeNull()
    for (let length = 0; length < bytes.length; length++) expect(check(bytes.subarray(0, length))).not.toBeNull()
    expect(check(Buffer.concat([bytes, hex('00')]))).toEqual({ path: '', reason: '1 bytes follow the datum' })
  })

  test('the path leads to the field', () => {
    const bytes = hex(fastavroOrder.values.two)
    // The price of `us` in the order inside the order has a union branch that does not exist.
    const at = Buffer.from(bytes).lastIndexOf('us') + 2
    bytes[at] = 8
    expect(check(bytes)).toEqual({ path: '/next/prices/us', reason: 'branch 4 of a union of 2' })
  })
})

describe.for([
  ['"null"', '', null],
  ['"null"', '00', '1 bytes follow the datum'],
  ['"boolean"', '01', null],
  ['"boolean"', '02', 'a boolean of the byte 2'],
  ['"boolean"', '', 'the value ends before its schema does'],
  ['"int"', 'ffffffff0f', null],
  ['"int"', 'ffffffff1f', 'a number of more than 32 bits'],
  ['"int"', '808080808000', 'a number of more than 32 bits'],
  ['"int"', '8080', 'the value ends before its schema does'],
  ['"long"', 'ffffffffffffffffff01', null],
  ['"long"', 'ffffffffffffffffff03', 'a number of more than 64 bits'],
  ['"long"', 'ffffffffffffffffffff01', 'a number of more than 64 bits'],
  ['"long"', 'ffffff', 'the value ends before its schema does'],
  ['"float"', '000000', '4 bytes, where 3 are left'],
  ['"double"', '0000000000000000', null],
  ['"bytes"', '04 c0ff', null],
  ['"bytes"', '01', 'a length of -1'],
  ['"bytes"', '06 c0ff', '3 bytes, where 2 are left'],
  ['"bytes"', 'feffffffffffffffff01', '9223372036854776000 bytes, where 0 are left'],
  ['"string"', '04 c0ff', 'a string that is not UTF-8'],
  ['"string"', '06 eda080', 'a string that is not UTF-8'],
  ['"string"', '04 6161', null],
  ['{"type":"enum","name":"E","symbols":["A","B"]}', '02', null],
  ['{"type":"enum","name":"E","symbols":["A","B"]}', '04', 'symbol 2 of an enum of 2'],
  ['{"type":"enum","name":"E","symbols":["A","B"]}', '01', 'symbol -1 of an enum of 2'],
  ['["null","int"]', '02 02', null],
  ['["null","int"]', '04', 'branch 2 of a union of 2'],
  ['["null","int"]', '01', 'branch -1 of a union of 2'],
  ['{"type":"array","items":"int"}', '00', null],
  ['{"type":"array","items":"int"}', '04 02 04 00', null],
  ['{"type":"array","items":"int"}', '03 04 02 04 00', null],
  ['{"type":"array","items":"int"}', '03 02 02 04 00', 'a block of another length than it says'],
  ['{"type":"array","items":"int"}', '03 01 02 04 00', 'a block of -1 bytes, where 3 are left'],
  ['{"type":"array","items":"int"}', '04 02 04', 'the value ends before its schema does'],
  // Counts of 2^40, of -2^63 and of as many nulls: none may cost anything.
  ['{"type":"array","items":"int"}', '808080808040', '1099511627776 items, where 0 bytes are left'],
  ['{"type":"array","items":"int"}', 'ffffffffffffffffff01 00', '9223372036854776000 items, where 0 bytes are left'],
  ['{"type":"array","items":"null"}', '808080808040 00', '1099511627776 items that take no bytes'],
  ['{"type":"array","items":"null"}', 'ffffffffffffffffff01 00 00', '9223372036854776000 items that take no bytes'],
  ['{"type":"array","items":"null"}', '06 00', null],
  [
    '{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"n","type":"null"}]}}',
    '808080808040 00',
    '1099511627776 items that take no bytes',
  ],
  ['{"type":"map","values":"null"}', '02 02 61 00', null],
  ['{"type":"map","values":"null"}', '808080808040 00', '1099511627776 items, where 1 bytes are left'],
  ['{"type":"map","values":"null"}', '02 02 ff 00', 'a string that is not UTF-8'],
] as const)('%s', ([schema, value, reason]) => {
  test(`${value || 'nothing'} is ${reason ?? 'valid'}`, () => {
    expect(checkOf(kind, 'avro', schema)(hex(value))?.reason ?? null).toBe(reason)
  })
})

test('a value that nests as deeply as it has bytes is a problem and no crash', () => {
  const check = checkOf(kind, 'avro', {
    type: 'record',
    name: 'List',
    fields: [{ name: 'rest', type: ['null', 'List'] }],
  })
  expect(check(hex(`${'02'.repeat(50)}00`))).toBeNull()
  expect(check(new Uint8Array(900 * 1024).fill(2))).toEqual({ path: '', reason: 'the value nests too deeply' })
  expect(check(hex('0200'))).toBeNull()
})

test('a record that contains itself without end has no value', () => {
  const check = checkOf(kind, 'avro', { type: 'record', name: 'Loop', fields: [{ name: 'self', type: 'Loop' }] })
  expect(check(hex(''))).toEqual({ path: '', reason: 'the value nests too deeply' })
})

test('whatever avsc writes of a random value is valid, cut off it is not, and damage never throws', () => {
  const type = avro.Type.forSchema(fastavroOrder.schema as avro.Schema, { wrapUnions: false })
  const check = checkOf(kind, 'avro', fastavroOrder.schema)
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.integer({ min: 0, max: 255 }), (_, at, byte) => {
      const bytes = type.toBuffer(type.random())
      expect(check(bytes)).toBeNull()
      expect(check(bytes.subarray(0, at % bytes.length))).not.toBeNull()
      const damaged = Buffer.from(bytes)
      damaged[at % bytes.length] = byte
      const problem = check(damaged)
      // What we let through, avsc can read.
      if (problem === null) expect(() => type.fromBuffer(damaged)).not.toThrow()
    }),
    { numRuns: 300 },
  )
})
