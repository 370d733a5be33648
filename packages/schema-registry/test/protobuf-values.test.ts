import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createProtobufKind } from '../src/kinds/protobuf/protobuf-kind.ts'
import { pythonOrder, pythonReading } from './golden/protobuf-values.ts'
import { checkOf } from './schemas-under-test.ts'

const kind = createProtobufKind()
const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe.for([
  ['text', pythonOrder.text, pythonReading.text],
  ['descriptor', pythonOrder.descriptor, pythonReading.descriptor],
] as const)('values written by Python, with a schema as %s', ([, order, reading]) => {
  test('are valid', () => {
    const check = checkOf(kind, 'protobuf', order)
    for (const value of Object.values(pythonOrder.values)) expect(check(hex(value))).toBeNull()
    expect(checkOf(kind, 'protobuf', reading)(hex(pythonReading.values.one))).toBeNull()
  })

  test('are of the message that their indexes say', () => {
    const check = checkOf(kind, 'protobuf', order)
    expect(check(hex(pythonOrder.other), [1])).toBeNull()
    expect(check(hex(pythonOrder.item), [0, 0])).toBeNull()
    expect(check(hex(pythonOrder.item), [2])).toEqual({
      path: '',
      reason: 'the schema has no message of the indexes 2',
    })
    expect(check(hex(pythonOrder.item), [0, 1])?.reason).toBe('the schema has no message of the indexes 0, 1')
    // An order, where its item is meant: the first field is no string.
    expect(check(hex(pythonOrder.values.one), [0, 0])).toEqual({
      path: '/name',
      reason: 'the wire type 0, where 2 is declared',
    })
  })
})

test('a message that is cut off is not valid, unless it is cut between two fields', () => {
  const check = checkOf(kind, 'protobuf', pythonOrder.text)
  const bytes = hex(pythonOrder.values.two)
  // Where the fields of the message itself end: known from what the check lets through of each part.
  const ends = new Set<number>([0])
  for (let length = 1; length <= bytes.length; length++) if (check(bytes.subarray(0, length)) === null) ends.add(length)
  // id, customer, paid, total, weight, balance, hash, delta, blob, state, 2 tags, counts, 2 loose, items, email, note, next, at
  expect(ends.size).toBe(21)
  const damaged = bytes.slice()
  damaged.set([0xff], damaged.length - 1)
  expect(check(damaged)).not.toBeNull()
})

describe('proto3', () => {
  const text = `syntax = "proto3";
    message M {
      int32 i = 1; string s = 2; bytes b = 3; fixed32 f = 4; fixed64 d = 5; M m = 6; repeated int32 p = 7; repeated fixed32 q = 8;
      map<string, int32> x = 9; E e = 10; bool far = 1000;
    }
    enum E { A = 0; B = 1; }`
  test.for<[value: string, path: string, reason: string | null]>([
    ['', '', null],
    ['08 01', '', null],
    ['08 ffffffffffffffffff01', '', null],
    ['08 ffffffffffffffffffff01', '/i', 'a number of more than 64 bits'],
    ['08', '/i', 'the value is cut off'],
    ['08 80', '/i', 'the value is cut off'],
    ['0a 00', '/i', 'the wire type 2, where 0 is declared'],
    ['12 02 6161', '', null],
    ['12 02 c0ff', '/s', 'a string that is not UTF-8'],
    ['12 03 6161', '/s', '3 bytes, where 2 are left'],
    ['12 ffffffff0f 61', '/s', '4294967295 bytes, where 1 are left'],
    ['12 ffffffff1f 61', '/s', 'a tag or a length of more than 32 bits'],
    ['12 ffffffffffffffffff01', '/s', 'a tag or a length of more than 32 bits'],
    ['1a 02 c0ff', '', null],
    ['25 00000000', '', null],
    ['25 000000', '/f', '4 bytes, where 3 are left'],
    ['29 00000000000000', '/d', '8 bytes, where 7 are left'],
    ['32 00', '', null],
    ['32 02 08 01', '', null],
    ['32 04 32 02 12 01', '/m/m/s', '1 bytes, where 0 are left'],
    ['32 03 08 01', '/m', '3 bytes, where 2 are left'],
    ['3a 03 01 80 01', '', null],
    ['38 01 38 02', '', null],
    ['3a 02 01 80', '/p/0', 'the value is cut off'],
    ['38 01 3a 01 80', '/p/1', 'the value is cut off'],
    ['42 08 0000000000000000', '', null],
    ['42 07 00000000000000', '/q/0', '7 bytes of packed numbers of 4 bytes'],
    ['4a 05 0a 01 61 10 01', '', null],
    ['4a 00', '', null],
    ['4a 05 0a 01 ff 10 01', '/x/0/key', 'a string that is not UTF-8'],
    ['4a 00 4a 02 12 00', '/x/1/value', 'the wire type 2, where 0 is declared'],
    ['50 07', '', null],
    ['c0 3e 01', '', null],
    ['c0 3e', '/far', 'the value is cut off'],
    // Unknown fields of every wire type, then what is none.
    ['98 7d 01 99 7d 0000000000000000 9a 7d 02 6161 9d 7d 00000000 9b 7d 08 01 9c 7d', '', null],
    ['9b 7d 08 01', '', 'the value is cut off'],
    ['9b 7d a4 7d', '', 'the end of group 2004 in group 2003'],
    ['9c 7d', '', 'a field of the wire type 4'],
    ['9e 7d 00', '', 'a field of the wire type 6'],
    ['00 01', '', 'a field of the number 0'],
    ['9b 7d 00', '', 'a field of the number 0'],
  ])('%s: %s %s', ([value, path, reason]) => {
    expect(checkOf(kind, 'protobuf', text)(hex(value))).toEqual(reason === null ? null : { path, reason })
  })

  test('messages and unknown groups nest a hundred deep, as other parsers let them, and no deeper', () => {
    const check = checkOf(kind, 'protobuf', text)
    const nested = (depth: number) => {
      let bytes = new Uint8Array(0)
      for (let i = 0; i < depth; i++) bytes = Uint8Array.from([0x32, ...varint(bytes.length), ...bytes])
      return bytes
    }
    expect(check(nested(99))).toBeNull()
    expect(check(nested(100))?.reason).toBe('messages nest deeper than 100')
    expect(check(new Uint8Array(900 * 1024).fill(0x9b).map((_, i) => (i % 2 ? 0x7d : 0x9b)))?.reason).toBe(
      'messages nest deeper than 100',
    )
    expect(check(new Uint8Array(900 * 1024).fill(0x33))?.reason).toBe('the wire type 3, where 2 is declared')
  })
})

describe('proto2', () => {
  const text = `message M {
      required int32 a = 1; required E e = 2; optional string s = 3; repeated group G = 4 { required bool on = 1; } optional M m = 5;
    }
    enum E { X = 1; Y = 2; }`
  test.for<[value: string, path: string, reason: string | null]>([
    ['08 01 10 01', '', null],
    ['10 01 08 01', '', null],
    ['', '', 'the required field a is missing'],
    ['08 01', '', 'the required field e is missing'],
    // A number that a closed enum has no name for is an unknown field.
    ['08 01 10 03', '', 'the required field e is missing'],
    ['08 01 10 01 1a 02 c0ff', '', null],
    ['08 01 10 01 23 08 01 24 23 08 00 24', '', null],
    ['08 01 10 01 23 08 01 24 23 24', '/g/1', 'the required field on is missing'],
    ['08 01 10 01 23 08 01', '/g/0', 'the value is cut off'],
    ['08 01 10 01 23 08 01 2c', '/g/0', 'a field of the wire type 4'],
    ['08 01 10 01 22 00', '/g/0', 'the wire type 2, where 3 is declared'],
    ['08 01 10 01 2a 02 08 01', '/m', 'the required field e is missing'],
  ])('%s: %s %s', ([value, path, reason]) => {
    expect(checkOf(kind, 'protobuf', text)(hex(value))).toEqual(reason === null ? null : { path, reason })
  })
})

test('strings of an edition need not be UTF-8 where its feature says so, and messages may be delimited', () => {
  const text = `edition = "2023";
    message M {
      string strict = 1;
      string loose = 2 [features.utf8_validation = NONE];
      M inner = 3 [features.message_encoding = DELIMITED];
      int32 needed = 4 [features.field_presence = LEGACY_REQUIRED];
    }`
  const check = checkOf(kind, 'protobuf', text)
  expect(check(hex('20 01 12 01 ff'))).toBeNull()
  expect(check(hex('20 01 0a 01 ff'))?.path).toBe('/strict')
  expect(check(hex('20 01 1b 20 01 1c'))).toBeNull()
  expect(check(hex('20 01 1b 1c'))).toEqual({ path: '/inner', reason: 'the required field needed is missing' })
})

test('whatever the bytes are, there is an answer', () => {
  const check = checkOf(kind, 'protobuf', pythonOrder.text)
  const base = hex(pythonOrder.values.two)
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (damages) => {
      const bytes = base.slice()
      for (const [at, byte] of damages) bytes[at] = byte
      const problem = check(bytes)
      expect(problem === null || problem.reason.length > 0).toBe(true)
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      check(bytes)
    }),
    { numRuns: 2000 },
  )
})

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
