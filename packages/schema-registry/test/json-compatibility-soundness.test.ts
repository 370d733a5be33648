import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createJsonKind } from '../src/kinds/json/json-kind.ts'
import { checkOf, sourceOf, utf8 } from './schemas-under-test.ts'

const kind = createJsonKind({ maxJsonValueBytes: 1 << 20 })
const $schema = 'https://json-schema.org/draft/2020-12/schema'

/** Small values and schemas over the same few names and numbers, so that they have to do with each other. */
const names = ['a', 'b', 'xa']
const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 3, 1.5, '', 'a', 'ab', 'xa')
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3 }) },
  ),
}))

const types = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']
const small = fc.nat(3)
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const one = tie('schema')
  const several = fc.array(one, { minLength: 1, maxLength: 3 })
  const keyword = (name: string, arbitrary: fc.Arbitrary<unknown>) => arbitrary.map((of) => ({ [name]: of }))
  const byName = fc.dictionary(fc.constantFrom(...names), one, { maxKeys: 2 })
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom<unknown>(true, false, {}, { $ref: '#/$defs/d' }, { type: 'object' }, { type: 'integer' }),
      fc
        .array(
          fc.oneof(
            keyword(
              'type',
              fc.oneof(
                fc.constantFrom(...types),
                fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
              ),
            ),
            keyword('enum', fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 })),
            keyword('const', scalar),
            ...[
              'minimum',
              'maximum',
              'exclusiveMinimum',
              'exclusiveMaximum',
              'minLength',
              'maxLength',
              'minItems',
              'maxItems',
              'minProperties',
              'maxProperties',
            ].map((name) => keyword(name, small)),
            keyword('multipleOf', fc.constantFrom(0.5, 1, 2)),
            keyword('pattern', fc.constantFrom('a', '^x')),
            keyword('uniqueItems', fc.boolean()),
            keyword('required', fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 })),
            keyword('properties', byName),
            keyword('patternProperties', fc.dictionary(fc.constantFrom('a', '^x'), one, { maxKeys: 2 })),
            keyword('additionalProperties', one),
            keyword('propertyNames', one),
            keyword('items', one),
            keyword('prefixItems', several),
            fc
              .tuple(one, small, small)
              .map(([contains, minContains, maxContains]) => ({ contains, minContains, maxContains })),
            keyword('contains', one),
            keyword('allOf', several),
            keyword('anyOf', several),
            keyword('oneOf', several),
            keyword('not', one),
            fc.tuple(one, one, one).map(([condition, yes, no]) =>
              Object.fromEntries([
                ['if', condition],
                ['then', yes],
                ['else', no],
              ]),
            ),
            keyword('dependentRequired', fc.dictionary(fc.constantFrom(...names), fc.constant(['b']), { maxKeys: 1 })),
            keyword('dependentSchemas', byName),
            keyword('unevaluatedProperties', one),
          ),
          { minLength: 1, maxLength: 3 },
        )
        .map((parts) => Object.assign({}, ...parts)),
    ),
  }
})

const document = fc.tuple(schema, schema).map(([root, d]) => ({ $schema, $defs: { d }, allOf: [root] }))
/** A schema and another that is a little wider or narrower, or has nothing to do with it. */
const pair = fc.tuple(document, document, fc.nat(9)).map(([one, other, choice]) => {
  if (choice < 3) return [one, other] as const
  const joined = {
    ...one,
    allOf: choice < 5 ? [...one.allOf, ...other.allOf] : [{ anyOf: [...one.allOf, ...other.allOf] }],
  }
  return choice < 5
    ? ([one, joined] as const)
    : choice < 7
      ? ([joined, one] as const)
      : choice === 7
        ? ([joined, other] as const)
        : ([one, one] as const)
})

test('no value that the writer allows is refused by a reader that is found compatible', { timeout: 600_000 }, () => {
  let compatible = 0
  let allowed = 0
  fc.assert(
    fc.property(pair, fc.array(value, { minLength: 10, maxLength: 10 }), ([reader, writer], values) => {
      // Most have nothing to do with each other; and a definition that refers to itself is no schema, which is a reason as well.
      if (kind.incompatibilities(sourceOf('json', reader), sourceOf('json', writer)).length > 0) return
      compatible++
      const [reads, writes] = [checkOf(kind, 'json', reader), checkOf(kind, 'json', writer)]
      for (const one of values) {
        const bytes = utf8(JSON.stringify(one))
        if (writes(bytes) !== null) continue
        allowed++
        expect(
          reads(bytes),
          `${JSON.stringify(one)} by ${JSON.stringify(reader)}, written by ${JSON.stringify(writer)}`,
        ).toBeNull()
      }
    }),
    { numRuns: Number(process.env['SOUNDNESS_RUNS'] ?? 500) },
  )
  // The property says something only if these are many.
  expect(compatible).toBeGreaterThan(20)
  expect(allowed).toBeGreaterThan(20)
})
