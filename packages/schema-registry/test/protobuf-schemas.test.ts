import { describe, expect, test } from 'vitest'
import { createProtobufKind } from '../src/kinds/protobuf/protobuf-kind.ts'
import { pythonOrder, pythonReading } from './golden/protobuf-values.ts'
import { checkOf, problemsOf, sourceOf } from './schemas-under-test.ts'

const kind = createProtobufKind()
const proto3 = (body: string) => `syntax = "proto3"; ${body}`

describe('what is no Protobuf schema is refused', () => {
  test.for<[text: string, path: string, reason: RegExp]>([
    ['{"type":"object"}', '', /^illegal token '\{'/],
    ['', '', /^the file defines no message and no enum$/],
    ['message M {', '', /end of input|illegal token 'null'/],
    [proto3('message M { required int32 a = 1; }'), '', /illegal token 'required'/],
    [proto3('message M { int32 a = 1; int32 b = 1; }'), '', /duplicate id 1/],
    [proto3('message M { int32 a = 1; string a = 2; }'), '', /duplicate name 'a'/],
    [proto3('message M { reserved 1; int32 a = 1; }'), '', /id 1 is reserved/],
    [proto3('message M { reserved "a"; int32 a = 1; }'), '', /name 'a' is reserved/],
    [proto3('message M { int32 a = 0; }'), '/M/a', /^0 is no field number$/],
    [proto3('message M { int32 a = 19000; }'), '/M/a', /^19000 is no field number$/],
    [proto3('message M { int32 a = 536870912; }'), '/M/a', /^536870912 is no field number$/],
    [proto3('message M { Unknown a = 1; }'), '', /no such.*Unknown/],
    [proto3('message M { map<float, int32> a = 1; }'), '', /illegal type 'float'/],
    [proto3('enum E { A = 1; }'), '/E', /^the first value of an open enum is 0$/],
    [proto3('enum E { }'), '/E', /^an enum without values$/],
    [proto3('enum E { A = 0; B = 0; }'), '', /duplicate id 0/],
    [
      proto3('import "other.proto"; message M { int32 a = 1; }'),
      '',
      /^"other.proto" is imported and not among the references$/,
    ],
    [
      proto3('import "/etc/passwd"; message M { int32 a = 1; }'),
      '',
      /^"\/etc\/passwd" is imported and not among the references$/,
    ],
    ['syntax = "proto4"; message M { }', '', /Unknown edition: proto4/],
    ['aGVsbG8gd29ybGQ=', '', /./],
  ])('%s', ([text, path, reason]) => {
    const [problem] = problemsOf(kind, 'protobuf', text)
    expect(problem?.path).toBe(path)
    expect(problem?.reason).toMatch(reason)
  })

  test('one that nests too deeply', () => {
    const text = proto3(`${'message M { '.repeat(100_000)}${'}'.repeat(100_000)}`)
    expect(problemsOf(kind, 'protobuf', text)[0]?.reason).toMatch(/depth|deep/)
  })
})

test('imports are found among the references, also those of the references, and public ones', () => {
  const text = proto3('package shop; import "money.proto"; message Order { pay.Money total = 1; }')
  const money = proto3('package pay; import public "currency.proto"; message Money { Currency currency = 1; }')
  const currency = proto3('package pay; enum Currency { NONE = 0; EUR = 1; }')
  const check = checkOf(kind, 'protobuf', text, { 'currency.proto': currency, 'money.proto': money })
  expect(check(Uint8Array.of(0x0a, 0x02, 0x08, 0x01))).toBeNull()
  // Messages of what is imported are not counted.
  expect(check(Uint8Array.of(), [1])?.reason).toBe('the schema has no message of the indexes 1')
  expect(problemsOf(kind, 'protobuf', text, { 'money.proto': money })).toEqual([
    { path: 'money.proto#', reason: '"currency.proto" is imported and not among the references' },
  ])
})

test("Protobuf's own well-known types are known without a reference", () => {
  const names = ['any', 'duration', 'empty', 'field_mask', 'struct', 'timestamp', 'wrappers', 'descriptor']
  for (const name of names) {
    const text = proto3(`import "google/protobuf/${name}.proto"; message M { int32 a = 1; }`)
    expect(problemsOf(kind, 'protobuf', text)).toEqual([])
  }
})

test('files of one package are told apart', () => {
  const text = proto3('package p; import "b.proto"; message A { B b = 1; }')
  const check = checkOf(kind, 'protobuf', text, {
    'b.proto': proto3('package p; message B { string s = 1; } message C { }'),
  })
  expect(check(Uint8Array.of(0x0a, 0x03, 0x0a, 0x01, 0xff))?.path).toBe('/b/s')
  expect(check(Uint8Array.of(), [1])?.reason).toContain('no message')
})

test('the canonical text is the same for a text and its descriptor, and however a text is written', () => {
  const canonicalOf = (text: string) => {
    const compilation = kind.compile(sourceOf('protobuf', text))
    return 'compiled' in compilation ? compilation.compiled.canonical : compilation.problems
  }
  for (const { text, descriptor } of [pythonOrder, pythonReading])
    expect(canonicalOf(descriptor)).toBe(canonicalOf(text))
  const one = proto3('message M { int32 a = 1; string b = 2; }')
  expect(canonicalOf(proto3('// A comment.\n message M {\n string b = 2; int32 a = 1; };'))).toBe(canonicalOf(one))
  for (const other of [
    'message M { int32 a = 1; }',
    'message M { int32 a = 1; string c = 2; }',
    'message M { int64 a = 1; string b = 2; }',
    'message M { oneof x { int32 a = 1; string b = 2; } }',
    'message M { optional int32 a = 1; string b = 2; }',
    'message M { int32 a = 1; string b = 2; reserved 3; }',
    'message N { } message M { int32 a = 1; string b = 2; }',
  ]) {
    expect(canonicalOf(proto3(other))).not.toBe(canonicalOf(one))
  }
})

describe('what can be read', () => {
  const M = (fields: string) => proto3(`message M { ${fields} }`)
  test.for<[what: string, reader: string, writer: string]>([
    ['the same', M('int32 a = 1;'), M('int32 a = 1;')],
    ['a new field', M('int32 a = 1; int32 b = 2;'), M('int32 a = 1;')],
    ['a field that is gone', M('int32 a = 1;'), M('int32 a = 1; int32 b = 2;')],
    ['a field of another name', M('int32 b = 1;'), M('int32 a = 1;')],
    [
      'numbers that are written alike',
      M('int64 a = 1; bool b = 2; sint64 c = 3;'),
      M('uint32 a = 1; int64 b = 2; sint32 c = 3;'),
    ],
    ['fixed numbers of one size', M('sfixed32 a = 1; fixed64 b = 2;'), M('fixed32 a = 1; sfixed64 b = 2;')],
    ['bytes as a string', M('string a = 1;'), M('bytes a = 1;')],
    ['an enum as a number', M('int32 a = 1;'), `${M('E a = 1;')} enum E { X = 0; }`],
    ['another enum', `${M('F a = 1;')} enum F { X = 0; }`, `${M('E a = 1;')} enum E { X = 0; Y = 1; }`],
    ['strings that are repeated', M('repeated string a = 1;'), M('string a = 1;')],
    ['messages that are repeated', M('repeated M a = 1;'), M('M a = 1;')],
    ['a new message', `${M('')} message N { }`, M('')],
    ['a new field in a oneof', M('oneof x { int32 a = 1; int32 b = 2; }'), M('oneof x { int32 a = 1; }')],
    ['a new oneof', M('oneof x { int32 a = 1; }'), M('')],
    ['one field in a new oneof', M('oneof x { int32 a = 1; int32 b = 2; }'), M('int32 a = 1;')],
    ['a oneof that is gone', M(''), M('oneof x { int32 a = 1; int32 b = 2; }')],
    ['a oneof of another name', M('oneof y { int32 a = 1; int32 b = 2; }'), M('oneof x { int32 a = 1; int32 b = 2; }')],
    [
      'a message of another name and the same fields',
      `${M('B a = 1;')} message A { } message B { int32 b = 1; }`,
      `${M('A a = 1;')} message A { int32 b = 1; }`,
    ],
    ['a recursive message', M('M a = 1; string b = 2;'), M('M a = 1; bytes b = 2;')],
    ['a map', M('map<string, int64> a = 1;'), M('map<string, int32> a = 1;')],
    ['no longer required', 'message M { optional int32 a = 1; }', 'message M { required int32 a = 1; }'],
  ])('%s', ([, reader, writer]) => {
    expect(kind.incompatibilities(sourceOf('protobuf', reader), sourceOf('protobuf', writer))).toEqual([])
  })

  test.for<[what: string, reader: string, writer: string, path: string, reason: string]>([
    ['another type', M('int32 a = 1;'), M('string a = 1;'), '/M/a', 'the type was string and is int32'],
    ['another way to write numbers', M('int32 a = 1;'), M('sint32 a = 1;'), '/M/a', 'the type was sint32 and is int32'],
    [
      'a fixed number of another size',
      M('fixed32 a = 1;'),
      M('fixed64 a = 1;'),
      '/M/a',
      'the type was fixed64 and is fixed32',
    ],
    ['a message as a number', M('int32 a = 1;'), M('M a = 1;'), '/M/a', 'the type was M and is int32'],
    ['a number as a message', M('M a = 1;'), M('int32 a = 1;'), '/M/a', 'the type was int32 and is M'],
    ['another number', M('int32 a = 2;'), M('int32 a = 1;'), '/M/a', 'the field had the number 1 and has 2'],
    [
      'numbers that are repeated',
      M('repeated int32 a = 1;'),
      M('int32 a = 1;'),
      '/M/a',
      'numbers that were optional are repeated',
    ],
    [
      'numbers that are repeated no more',
      M('int32 a = 1;'),
      M('repeated int32 a = 1;'),
      '/M/a',
      'numbers that were repeated are optional',
    ],
    [
      'a new required field',
      'message M { required int32 a = 1; }',
      'message M { }',
      '/M/a',
      'a required field is added',
    ],
    [
      'a field that is required now',
      'message M { required int32 a = 1; }',
      'message M { optional int32 a = 1; }',
      '/M/a',
      'the field is required now',
    ],
    [
      'a message as a group',
      'message M { optional group G = 1 { } }',
      'message M { optional G g = 1; message G { } }',
      '/M/g',
      'a group is written otherwise than a message',
    ],
    [
      'a field that is gone from a oneof',
      M('oneof x { int32 a = 1; }'),
      M('oneof x { int32 a = 1; int32 b = 2; }'),
      '/M/b',
      'the field is removed from the oneof x',
    ],
    [
      'several fields in a new oneof',
      M('oneof x { int32 a = 1; int32 b = 2; }'),
      M('int32 a = 1; int32 b = 2;'),
      '/M/x',
      'of a, b, more than one may have been written',
    ],
    [
      'a field in an old oneof',
      M('oneof x { int32 a = 1; int32 b = 2; }'),
      M('oneof x { int32 a = 1; } int32 b = 2;'),
      '/M/x',
      'of a, b, more than one may have been written',
    ],
    ['a message that is gone', M(''), `${M('')} message N { }`, '/N', 'the message is removed'],
    ['an inner message that is gone', M(''), M('message N { }'), '/M.N', 'the message is removed'],
    [
      'another package',
      proto3('package b; message M { }'),
      proto3('package a; message M { }'),
      '',
      'the package was a and is b',
    ],
    ['another first message', proto3('message N { } message M { }'), M(''), '', 'the first message was M and is N'],
    [
      'a message inside',
      `${M('N n = 1;')} message N { int32 a = 1; }`,
      `${M('N n = 1;')} message N { string a = 1; }`,
      '/M/n/a',
      'the type was string and is int32',
    ],
    [
      'values of a map',
      M('map<string, int32> a = 1;'),
      M('map<string, string> a = 1;'),
      '/M/a/value',
      'the type was string and is int32',
    ],
    [
      'a recursive message',
      M('M a = 1; int32 b = 2;'),
      M('M a = 1; bytes b = 2;'),
      '/M/b',
      'the type was bytes and is int32',
    ],
  ])('not: %s', ([, reader, writer, path, reason]) => {
    expect(kind.incompatibilities(sourceOf('protobuf', reader), sourceOf('protobuf', writer))[0]).toEqual({
      path,
      reason,
    })
  })
})
