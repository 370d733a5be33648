import { describe, expect, test } from 'vitest'
import { createJsonKind } from '../src/kinds/json/json-kind.ts'
import { checkOf, problemsOf, sourceOf, utf8 } from './schemas-under-test.ts'

const kind = createJsonKind({ maxJsonValueBytes: 4 * 1024 * 1024 })
const draft202012 = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema#'

describe('what is no JSON Schema is refused with its place', () => {
  test.for<[unknown, string, string | RegExp]>([
    ['{', '', /^not JSON: /],
    ['7', '', 'a schema is an object or a boolean'],
    [{ type: 'strin' }, '/type', /^must be one of|^must match a schema in anyOf/],
    [{ properties: { a: { minimum: '1' } } }, '/properties/a/minimum', 'must be number'],
    [{ $schema: draft202012, properties: { a: { minLength: -1 } } }, '/properties/a/minLength', 'must be >= 0'],
    [{ $schema: draft202012, items: [{}] }, '/items', 'must be object,boolean'],
    [{ pattern: '(' }, '/pattern', /^Invalid regular expression: /],
    [{ patternProperties: { '[': {} } }, '/patternProperties/[', /^Invalid regular expression: /],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, '/$schema', /is neither draft 2020-12 nor draft 07/],
    [{ $schema: 7 }, '/$schema', 'not a string'],
    [
      { properties: { a: { $ref: '#/definitions/b' } } },
      '/properties/a',
      '"#/definitions/b" is neither in the schema nor among its references',
    ],
    [
      { $ref: 'https://example.com/a.json' },
      '',
      '"https://example.com/a.json" is neither in the schema nor among its references',
    ],
    [{ $ref: 'file:///etc/passwd' }, '', '"file:///etc/passwd" is neither in the schema nor among its references'],
    [{ $ref: '#' }, '', 'the reference leads back to itself'],
    [
      {
        $schema: draft202012,
        $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a', type: 'null' } },
        $ref: '#/$defs/a',
      },
      '/$defs/a',
      'the reference leads back to itself',
    ],
    [{ $schema: draft202012, $ref: '#nowhere' }, '', '"#nowhere" is neither in the schema nor among its references'],
    [
      { definitions: { a: { $id: 'http://x/a' }, b: { $id: 'http://x/a', type: 'null' } } },
      '/definitions/b',
      'a second schema of the $id "http://x/a"',
    ],
    [{ $schema: draft202012, $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, '/$defs/b', 'a second anchor "x"'],
  ])('%j', ([schema, path, reason]) => {
    const [problem] = problemsOf(kind, 'json', schema)
    expect(problem?.path).toBe(path)
    if (typeof reason === 'string') expect(problem?.reason).toBe(reason)
    else expect(problem?.reason).toMatch(reason)
  })

  test.for(['{"not":', '{"properties":{"a":', '[{"items":'])('one that nests too deeply by %s', (open) => {
    const close = open.startsWith('[') ? '}]' : '}'.repeat(open.split('{').length - 1)
    const text = `${open.repeat(50_000)}{}${close.repeat(50_000)}`
    expect(problemsOf(kind, 'json', text)).toHaveLength(1)
  })
})

describe('which draft it is', () => {
  // Only in 2020-12 does prefixItems mean anything, and only in 07 do items in a list.
  const value = utf8('[1]')
  test('is what it says', () => {
    expect(checkOf(kind, 'json', { $schema: draft202012, prefixItems: [false] })(value)?.path).toBe('/0')
    expect(checkOf(kind, 'json', { $schema: draft07, prefixItems: [false] })(value)).toBeNull()
    expect(checkOf(kind, 'json', { $schema: draft07, items: [false] })(value)?.path).toBe('/0')
  })

  test('is 07 if it says nothing, and the same for its references', () => {
    expect(checkOf(kind, 'json', { items: [false] })(value)?.path).toBe('/0')
    expect(checkOf(kind, 'json', { prefixItems: [false] })(value)).toBeNull()
    const reference = { prefixItems: [false] }
    expect(checkOf(kind, 'json', { $ref: 'r.json' }, { 'r.json': reference })(value)).toBeNull()
    expect(checkOf(kind, 'json', { $schema: draft202012, $ref: 'r.json' }, { 'r.json': reference })(value)?.path).toBe(
      '/0',
    )
  })

  test('may be another for a reference', () => {
    const reference = { $schema: draft202012, prefixItems: [false] }
    expect(checkOf(kind, 'json', { items: { $ref: 'r.json' } }, { 'r.json': reference })(utf8('[[1]]'))?.path).toBe(
      '/0/0',
    )
  })

  test('may be that of a meta-schema among the references', () => {
    const metaSchema = {
      $schema: draft202012,
      $id: 'https://example.com/meta',
      $vocabulary: {
        'https://json-schema.org/draft/2020-12/vocab/core': true,
        'https://json-schema.org/draft/2020-12/vocab/applicator': true,
      },
      $dynamicAnchor: 'meta',
      properties: { properties: { additionalProperties: { $dynamicRef: '#meta' } }, title: { type: 'string' } },
      required: ['title'],
    }
    const schema = {
      $schema: 'https://example.com/meta',
      title: 'x',
      properties: { a: { title: 'a', minimum: 5 }, b: { title: 'b', not: {} } },
    }
    const check = checkOf(kind, 'json', schema, { meta: metaSchema })
    expect(check(utf8('{"a":1}'))).toBeNull()
    expect(check(utf8('{"b":1}'))?.path).toBe('/b')
    expect(problemsOf(kind, 'json', { ...schema, properties: { a: {} } }, { meta: metaSchema })).toEqual([
      { path: '/properties/a', reason: "must have required property 'title'" },
    ])
    const $vocabulary = { 'https://example.com/vocabulary': true }
    expect(problemsOf(kind, 'json', schema, { meta: { ...metaSchema, $vocabulary } })[0]?.reason).toContain(
      'unknown vocabulary',
    )
  })
})

describe('references', () => {
  const name = { type: 'string', minLength: 1 }
  const person = { type: 'object', properties: { name: { $ref: 'name.json' } } }
  const list = { type: 'array', items: { $ref: 'person.json' } }

  test('are found by the names they are given under, whatever the $ids around them', () => {
    for (const $id of [undefined, 'https://example.com/list.json', 'urn:uuid:d1a9fbb4-55c5-4a0a-9c5c-0cb50d3d4b5a']) {
      const schema = $id === undefined ? list : { $id, ...list }
      const check = checkOf(kind, 'json', schema, { 'name.json': name, 'person.json': person })
      expect(check(utf8('[{"name":""}]'))).toEqual({ path: '/0/name', reason: 'must NOT have fewer than 1 characters' })
    }
  })

  test('are found by their $id', () => {
    const check = checkOf(
      kind,
      'json',
      { $ref: 'https://example.com/n' },
      { n: { $id: 'https://example.com/n', ...name } },
    )
    expect(check(utf8('""'))).not.toBeNull()
  })

  test('may lead into a document', () => {
    const defs = { definitions: { 'a/b': name } }
    const check = checkOf(kind, 'json', { $ref: 'defs.json#/definitions/a~1b' }, { 'defs.json': defs })
    expect(check(utf8('""'))).not.toBeNull()
  })

  test('have their name before the path of a problem', () => {
    expect(problemsOf(kind, 'json', list, { 'person.json': { type: 'objekt' } })[0]?.path).toBe('person.json#/type')
  })
})

describe('values', () => {
  test.for<[unknown, string, string, string]>([
    [true, '{', '', "not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
    [true, '', '', 'not JSON: Unexpected end of JSON input'],
    [true, '\ufeff1', '', 'not JSON: Unexpected token \'\ufeff\', "\ufeff1" is not valid JSON'],
    [false, '1', '', 'the schema allows no value'],
    [{ type: 'number' }, '1e999', '', 'must be number'],
    [{ properties: { 'a/b~c': { type: 'null' } } }, '{"a/b~c":1}', '/a~1b~0c', 'must be null'],
    [{ required: ['a'] }, '{}', '', "must have required property 'a'"],
    [{ required: ['toString'] }, '{}', '', "must have required property 'toString'"],
    [{ properties: { constructor: { type: 'null' } } }, '{"constructor":1}', '/constructor', 'must be null'],
    [{ properties: JSON.parse('{"__proto__":{"type":"null"}}') }, '{"__proto__":1}', '/__proto__', 'must be null'],
    [{ additionalProperties: false, properties: { a: {} } }, '{"b":1}', '', 'must not have the property "b"'],
    [{ enum: ['a', 1, null] }, '2', '', 'must be one of "a", 1, null'],
    [{ const: { a: 1 } }, '2', '', 'must be {"a":1}'],
    [
      { anyOf: [{ type: 'null' }, { properties: { a: { type: 'null' } }, type: 'object' }] },
      '{"a":1}',
      '',
      'must match a schema in anyOf',
    ],
    ['{"if":true,"then":{"properties":{"a":{"minimum":3}}}}', '{"a":1}', '/a', 'must be >= 3'],
    [{ uniqueItems: true }, '[{"a":1,"b":[2]},{"b":[2],"a":1}]', '', 'must not have the same item twice'],
    [{ maxLength: 2 }, '"\u{1f600}\u{1f600}\u{1f600}"', '', 'must NOT have more than 2 characters'],
    [{ minLength: 3 }, '"\u{1f600}\u{1f600}"', '', 'must NOT have fewer than 3 characters'],
    [{ propertyNames: { maxLength: 1 } }, '{"ab":1}', '', 'must not have a property named "ab"'],
    [
      { $schema: draft202012, unevaluatedProperties: false, allOf: [{ properties: { a: {} } }] },
      '{"a":1,"b":1}',
      '/b',
      'this property is not among those that the schema allows',
    ],
    [
      { $schema: draft202012, unevaluatedItems: false, contains: { type: 'null' } },
      '[null,1]',
      '/1',
      'this item is not among those that the schema allows',
    ],
  ])('%j does not allow %s', ([schema, value, path, reason]) => {
    expect(checkOf(kind, 'json', schema)(utf8(value))).toEqual({ path, reason })
  })

  test('that are valid are', () => {
    expect(checkOf(kind, 'json', { maxLength: 2, minLength: 2 })(utf8('"\u{1f600}\u{1f600}"'))).toBeNull()
    expect(
      checkOf(kind, 'json', { uniqueItems: true })(utf8('[1,"1",true,[1],{"a":1},null,"null",[],"[]"]')),
    ).toBeNull()
    expect(checkOf(kind, 'json', { uniqueItems: false })(utf8('[1,1]'))).toBeNull()
    expect(checkOf(kind, 'json', { properties: { constructor: { type: 'null' } } })(utf8('{}'))).toBeNull()
    expect(checkOf(kind, 'json', { pattern: '^[a\\_]+$' })(utf8('"a_"'))).toBeNull()
  })

  test('are UTF-8', () => {
    expect(checkOf(kind, 'json', true)(Uint8Array.of(0x22, 0xc0, 0x22))).toEqual({ path: '', reason: 'not UTF-8' })
  })

  test('of many items are held to uniqueItems quickly', () => {
    const check = checkOf(kind, 'json', { uniqueItems: true })
    const items = Array.from({ length: 40_000 }, (_, i) => `{"a":${i}}`)
    const startMs = performance.now()
    expect(check(utf8(`[${items.join(',')}]`))).toBeNull()
    expect(check(utf8(`[${items.join(',')},{"a":39999}]`))).not.toBeNull()
    expect(performance.now() - startMs).toBeLessThan(2000)
  })

  test('that nest deeply are a problem only where the schema follows them', () => {
    const deep = utf8(`${'['.repeat(400_000)}${']'.repeat(400_000)}`)
    expect(checkOf(kind, 'json', { type: 'array' })(deep)).toBeNull()
    expect(checkOf(kind, 'json', { items: { $ref: '#' } })(deep)).toEqual({
      path: '',
      reason: 'the value nests too deeply for its schema',
    })
    expect(checkOf(kind, 'json', { uniqueItems: true })(deep)?.reason).toBe('the value nests too deeply for its schema')
  })

  test('have bounded problems, however long their names are', () => {
    const name = 'x'.repeat(500_000)
    for (const schema of [
      { additionalProperties: { type: 'null' } },
      { additionalProperties: false },
      { propertyNames: false },
      { propertyNames: { pattern: 'y' } },
    ]) {
      const problem = checkOf(kind, 'json', schema)(utf8(`{"${name}":1}`))
      expect(JSON.stringify(problem).length).toBeLessThan(1000)
    }
  })
})

test('the canonical text is the same however a schema is written', () => {
  const canonicalOf = (text: string) => {
    const compilation = kind.compile(sourceOf('json', text))
    return 'compiled' in compilation ? compilation.compiled.canonical : ''
  }
  expect(canonicalOf('{"type":"object","title":"x"}')).toBe(canonicalOf(' { "title": "x",\n"type": "object" }'))
  expect(canonicalOf('{"type":"object","title":"x"}')).not.toBe(canonicalOf('{"type":"object","title":"y"}'))
})
