import { describe, expect, test } from 'vitest'
import { createAvroKind } from '../src/kinds/avro/avro-kind.ts'
import { checkOf, problemsOf, sourceOf } from './schemas-under-test.ts'

const kind = createAvroKind()
const record = (fields: readonly unknown[], more = {}) => ({ type: 'record', name: 'R', fields, ...more })
const field = (type: unknown, more = {}) => ({ name: 'f', type, ...more })

describe('what is no Avro schema is refused with its place', () => {
  test.for<[unknown, string, string]>([
    ['{', '', "not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
    ['"strin"', '', 'no type is called "strin"'],
    ['7', '', 'a schema is a name, an object or a list of schemas'],
    [{ type: { type: 'string' } }, '/type', 'the type of a schema is a name'],
    [record([field('Unknown')]), '/fields/0/type', 'no type is called "Unknown"'],
    [record([field({ type: 'array' })]), '/fields/0/type/items', 'a schema is a name, an object or a list of schemas'],
    [record([field('int'), field('int')]), '/fields/1/name', 'a second field "f"'],
    [record([{ name: 'a-b', type: 'int' }]), '/fields/0/name', 'not a name'],
    [record([field('int', { order: 'up' })]), '/fields/0/order', 'the order is ascending, descending or ignore'],
    [record([field('int', { default: 'x' })]), '/fields/0/default', 'the default is no int'],
    [record([field('int', { default: 2 ** 31 })]), '/fields/0/default', 'the default is no int'],
    [record([field('long', { default: 1.5 })]), '/fields/0/default', 'the default is no long'],
    [record([field('bytes', { default: '\u0100' })]), '/fields/0/default', 'the default is no bytes'],
    [record([field(['null', 'int'], { default: 'x' })]), '/fields/0/default', 'the default is no union'],
    [
      record([field({ type: 'array', items: 'int' }, { default: [1, null] })]),
      '/fields/0/default',
      'the default is no array',
    ],
    [
      record([field({ type: 'map', values: 'int' }, { default: { a: '' } })]),
      '/fields/0/default',
      'the default is no map',
    ],
    [
      record([field(record([field('int')], { name: 'S' }), { default: {} })]),
      '/fields/0/default',
      'the default is no S',
    ],
    [record([field(record([]))]), '/fields/0/type/name', 'a second type "R"'],
    [{ type: 'record', name: 'R' }, '/fields', 'the fields of a record are a list'],
    [{ type: 'record', name: 'int', fields: [] }, '/name', '"int" is the name of a primitive type'],
    [{ type: 'record', name: 'R', namespace: 'a..b', fields: [] }, '/namespace', 'not a namespace'],
    [{ type: 'record', fields: [] }, '/name', 'not a name'],
    [{ type: 'enum', name: 'E' }, '/symbols', 'the symbols of an enum are a list'],
    [{ type: 'enum', name: 'E', symbols: ['A', 'A'] }, '/symbols', 'a symbol twice'],
    [{ type: 'enum', name: 'E', symbols: ['A', '1'] }, '/symbols/1', '"1" is not a name'],
    [{ type: 'enum', name: 'E', symbols: ['A'], default: 'B' }, '/default', 'the default is not among the symbols'],
    [{ type: 'fixed', name: 'F', size: -1 }, '/size', 'the size of a fixed is a number of bytes'],
    [['int', 'int'], '/1', '"int" twice in a union'],
    [['int', ['null']], '/1', 'a union directly in a union'],
    [record([field('int', { aliases: 'g' })]), '/fields/0/aliases', 'not a list of strings'],
  ])('%j', ([schema, path, reason]) => {
    expect(problemsOf(kind, 'avro', schema)).toEqual([{ path, reason }])
  })

  test('one that nests too deeply', () => {
    const text = `${'{"type":"array","items":'.repeat(100_000)}"int"${'}'.repeat(100_000)}`
    expect(problemsOf(kind, 'avro', text)).toEqual([{ path: '', reason: 'the schema nests too deeply' }])
  })
})

test('names are looked for in the namespace they stand in, and then as they are', () => {
  const schema = {
    type: 'record',
    name: 'shop.Order',
    fields: [
      { name: 'a', type: { type: 'enum', name: 'State', symbols: ['X'] } },
      { name: 'b', type: 'shop.State' },
      { name: 'c', type: 'State' },
      { name: 'd', type: { type: 'fixed', name: 'F', namespace: '', size: 1 } },
      { name: 'e', type: 'F' },
    ],
  }
  expect(checkOf(kind, 'avro', schema)(new Uint8Array(5))).toBeNull()
})

test('references define names that the schema uses, and their problems have their name before the path', () => {
  const money = { type: 'record', name: 'shop.Money', fields: [field('long')] }
  const schema = record([field('shop.Money')])
  expect(checkOf(kind, 'avro', schema, { 'shop.Money': money })(new Uint8Array(1))).toBeNull()
  expect(problemsOf(kind, 'avro', schema)).toEqual([
    { path: '/fields/0/type', reason: 'no type is called "shop.Money"' },
  ])
  expect(problemsOf(kind, 'avro', schema, { 'shop.Money': { ...money, fields: [field('lon')] } })).toEqual([
    { path: 'shop.Money#/fields/0/type', reason: 'no type is called "lon"' },
  ])
})

test('the canonical text is the same however a schema is written, and another if it says something else', () => {
  const canonicalOf = (schema: unknown) => {
    const compilation = kind.compile(sourceOf('avro', schema))
    return 'compiled' in compilation ? compilation.compiled.canonical : compilation.problems
  }
  const one = { type: 'record', name: 'R', namespace: 'a', fields: [field({ type: 'string' }, { order: 'ascending' })] }
  const same = '{"fields": [ {"type":"string","name":"f"} ],\n "name":"a.R", "type":"record"}'
  expect(canonicalOf(one)).toBe(canonicalOf(same))
  expect(canonicalOf(one)).toBe('{"fields":[{"name":"f","type":"string"}],"name":"a.R","type":"record"}')
  for (const other of [
    { ...one, doc: 'x' },
    { ...one, namespace: 'b' },
    { ...one, fields: [field('string', { default: '' })] },
  ]) {
    expect(canonicalOf(other)).not.toBe(canonicalOf(one))
  }
})

describe('what can be read', () => {
  const R = (...fields: readonly unknown[]) => record(fields)
  const E = (symbols: readonly string[], more = {}) => ({ type: 'enum', name: 'E', symbols, ...more })
  const F = (size: number, more = {}) => ({ type: 'fixed', name: 'F', size, ...more })
  const list = (item: unknown) =>
    record([
      { name: 'item', type: item },
      { name: 'rest', type: ['null', 'R'] },
    ])

  test.for<[what: string, reader: unknown, writer: unknown]>([
    ['the same', R(field('int')), R(field('int'))],
    ['a field that is not read any more', R(), R(field('int'))],
    ['a new field with a default', R(field('int', { default: 0 })), R()],
    ['a field under its alias', R({ name: 'g', aliases: ['f'], type: 'int' }), R(field('int'))],
    ['a record of another namespace', record([], { namespace: 'a' }), record([], { namespace: 'b' })],
    ['a record under its alias', record([], { name: 'S', aliases: ['R'] }), record([])],
    ...['long', 'float', 'double'].map((type): [string, unknown, unknown] => [`int as ${type}`, `"${type}"`, '"int"']),
    ['long as float', '"float"', '"long"'],
    ['long as double', '"double"', '"long"'],
    ['float as double', '"double"', '"float"'],
    ['string as bytes', '"bytes"', '"string"'],
    ['bytes as string', '"string"', '"bytes"'],
    ['a new symbol', E(['A', 'B']), E(['A'])],
    ['a symbol that is gone, with a default', E(['A'], { default: 'A' }), E(['A', 'B'])],
    ['a type as a branch of a union', ['null', 'long'], '"int"'],
    ['each branch of a union', ['null', 'long', 'string'], ['int', 'null']],
    ['a union of which every branch can be read', '"long"', ['int', 'long']],
    ['items', { type: 'array', items: 'long' }, { type: 'array', items: 'int' }],
    ['values', { type: 'map', values: 'long' }, { type: 'map', values: 'int' }],
    ['a recursive type', list('long'), list('int')],
    [
      'the same decimals',
      { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 },
      { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 },
    ],
  ])('%s', ([, reader, writer]) => {
    expect(kind.incompatibilities(sourceOf('avro', reader), sourceOf('avro', writer))).toEqual([])
  })

  test.for<[what: string, reader: unknown, writer: unknown, path: string, reason: string]>([
    [
      'a new field without a default',
      R(field('int')),
      R(),
      '/fields/0',
      'the field "f" was not written and has no default',
    ],
    [
      'a field of another type',
      R(field('int')),
      R(field('string')),
      '/fields/0/type',
      'string was written, which cannot be read as int',
    ],
    ['another record', record([], { name: 'S' }), record([]), '/name', 'R was written, which S is not called'],
    ['long as int', '"int"', '"long"', '', 'long was written, which cannot be read as int'],
    ['double as float', '"float"', '"double"', '', 'double was written, which cannot be read as float'],
    ['a symbol that is gone', E(['A']), E(['A', 'B']), '/symbols', 'B may have been written, and there is no default'],
    ['another enum', { ...E(['A']), name: 'G' }, E(['A']), '/name', 'E was written, which G is not called'],
    ['another size', F(4), F(3), '/size', '3 bytes were written where 4 are read'],
    ['another fixed', { ...F(4), name: 'G' }, F(4), '/name', 'F was written, which G is not called'],
    ['a branch that is gone', ['null', 'int'], ['null', 'string'], '', 'the union has no branch for string'],
    [
      'a branch that changed',
      ['null', R(field('int'))],
      ['null', R(field('string'))],
      '/1/fields/0/type',
      'string was written, which cannot be read as int',
    ],
    ['a union as a type', '"int"', ['int', 'null'], '', 'null was written, which cannot be read as int'],
    [
      'items',
      { type: 'array', items: 'int' },
      { type: 'array', items: 'null' },
      '/items',
      'null was written, which cannot be read as int',
    ],
    [
      'values',
      { type: 'map', values: 'int' },
      { type: 'map', values: 'null' },
      '/values',
      'null was written, which cannot be read as int',
    ],
    [
      'a map as an array',
      { type: 'array', items: 'int' },
      { type: 'map', values: 'int' },
      '',
      'map was written, which cannot be read as array',
    ],
    ['a recursive type', list('int'), list('long'), '/fields/0/type', 'long was written, which cannot be read as int'],
    [
      'decimals of another scale',
      { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 },
      { type: 'bytes', logicalType: 'decimal', precision: 4 },
      '/scale',
      'decimals of scale 0 were written where 2 is read',
    ],
    [
      'decimals of another precision',
      F(4, { logicalType: 'decimal', precision: 5 }),
      F(4, { logicalType: 'decimal', precision: 4 }),
      '/precision',
      'decimals of precision 4 were written where 5 is read',
    ],
  ])('not: %s', ([, reader, writer, path, reason]) => {
    expect(kind.incompatibilities(sourceOf('avro', reader), sourceOf('avro', writer))[0]).toEqual({ path, reason })
  })
})
