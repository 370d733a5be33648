import type { SchemaProblem } from '../../schema.ts'
import { canonicalText } from '../canonical-text.ts'
import { areDisjoint } from './disjoint-values.ts'
import type { Json, JsonObject } from './json-dialects.ts'
import type { Comparison } from './json-incompatibilities.ts'
import { objectProblems } from './object-rules.ts'
import type { SchemaIn } from './same-schema.ts'
import {
  arrayOf,
  type Fact,
  isEvaluating,
  type JsonType,
  listed,
  typesNamed,
  WrittenValues,
  within,
} from './written-values.ts'

/** Why each keyword of a schema of the reader does not follow from what is known of the written values. */
export function keywordProblems(
  reader: Fact,
  written: WrittenValues,
  path: string,
  comparison: Comparison,
): SchemaProblem[] {
  if (isEvaluating(reader.schema)) {
    return [
      {
        path,
        reason: 'unevaluatedProperties or unevaluatedItems: it cannot be decided whether what was written can be read',
      },
    ]
  }
  return rules.flatMap((rule) => rule(reader, written, path, comparison))
}

export type KeywordRule = (
  reader: Fact,
  written: WrittenValues,
  path: string,
  comparison: Comparison,
) => readonly SchemaProblem[]

const typeRule: KeywordRule = ({ schema }, written, path) => {
  if (schema['type'] === undefined) return []
  const allowed = typesNamed(schema['type'])
  const missing = [...written.types].filter((type) => !allowed.has(type))
  if (missing.length === 0) return []
  // Of numbers that were written only as what they may be besides integers, it is that which is missing.
  return [{ path: `${path}/type`, reason: `the type is narrowed: ${missing.join(', ')} was allowed` }]
}

const listRule: KeywordRule = ({ schema }, written, path) => {
  const values = listed(schema)
  if (values === null) return []
  const keyword = schema['const'] === undefined ? 'enum' : 'const'
  const { listedValues } = written
  if (listedValues === null) return [{ path: `${path}/${keyword}`, reason: `${keyword} is added` }]
  const allowed = new Set(values.map(canonicalText))
  const missing = [...listedValues].filter((value) => !allowed.has(value))
  if (missing.length === 0) return []
  const shown = missing.slice(0, 10).join(', ').slice(0, 200)
  return [{ path: `${path}/${keyword}`, reason: `${keyword} is narrowed: ${shown} was allowed` }]
}

/** Keywords that bound a size from one side, with what they are of and what they say when absent. */
const sizeRules: readonly KeywordRule[] = (
  [
    ['minLength', 'string', 'min'],
    ['maxLength', 'string', 'max'],
    ['minItems', 'array', 'min'],
    ['maxItems', 'array', 'max'],
    ['minProperties', 'object', 'min'],
    ['maxProperties', 'object', 'max'],
  ] as const
).map(([keyword, type, side]): KeywordRule => {
  return ({ schema }, written, path) => {
    const bound = schema[keyword]
    if (typeof bound !== 'number' || !written.types.has(type)) return []
    const least = keyword === 'minProperties' ? written.required.size : 0
    const known = side === 'min' ? Math.max(least, written.largest(keyword)) : written.smallest(keyword)
    if (side === 'min' ? known >= bound : known <= bound) return []
    return [boundProblem(keyword, bound, known, path)]
  }
})

const rangeRule: KeywordRule = ({ schema }, written, path) => {
  if (!isAnyOf(written, 'number', 'integer')) return []
  const problems: SchemaProblem[] = []
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema
  const [least, above] = [written.largest('minimum'), written.largest('exclusiveMinimum')]
  const [most, below] = [written.smallest('maximum'), written.smallest('exclusiveMaximum')]
  if (typeof minimum === 'number' && Math.max(least, above) < minimum) {
    problems.push(boundProblem('minimum', minimum, Math.max(least, above), path))
  }
  if (typeof exclusiveMinimum === 'number' && !(above >= exclusiveMinimum || least > exclusiveMinimum)) {
    problems.push(boundProblem('exclusiveMinimum', exclusiveMinimum, Math.max(least, above), path))
  }
  if (typeof maximum === 'number' && Math.min(most, below) > maximum) {
    problems.push(boundProblem('maximum', maximum, Math.min(most, below), path))
  }
  if (typeof exclusiveMaximum === 'number' && !(below <= exclusiveMaximum || most < exclusiveMaximum)) {
    problems.push(boundProblem('exclusiveMaximum', exclusiveMaximum, Math.min(most, below), path))
  }
  return problems
}

function boundProblem(keyword: string, bound: number, known: number, path: string): SchemaProblem {
  const before = Number.isFinite(known) && known !== 0 ? `narrowed from ${known}` : 'added'
  return { path: `${path}/${keyword}`, reason: `${keyword} ${bound} is ${before}` }
}

const multipleRule: KeywordRule = ({ schema }, written, path) => {
  const { multipleOf } = schema
  if (typeof multipleOf !== 'number' || !isAnyOf(written, 'number', 'integer')) return []
  const known = written.facts.map((fact) => fact.schema['multipleOf']).filter((value) => typeof value === 'number')
  const isIntegers = !written.types.has('number')
  const follows = (isIntegers ? [1, ...known] : known).some((value) => Number.isInteger(value / multipleOf))
  return follows ? [] : [{ path: `${path}/multipleOf`, reason: `multipleOf ${multipleOf} is added or narrowed` }]
}

const patternRule: KeywordRule = ({ schema }, written, path) => {
  const { pattern } = schema
  if (typeof pattern !== 'string' || !written.types.has('string') || written.has('pattern', pattern)) return []
  const isChanged = written.facts.some((fact) => typeof fact.schema['pattern'] === 'string')
  return [{ path: `${path}/pattern`, reason: `pattern is ${isChanged ? 'changed' : 'added'}` }]
}

const itemsRule: KeywordRule = (reader, written, path, comparison) => {
  if (!written.types.has('array')) return []
  const { schema, of } = reader
  const prefix = arrayOf(schema['prefixItems'])
  const itemsMax = written.smallest('maxItems')
  const count = Math.max(prefix.length, written.namedItems)
  const rest = within(reader, 'items')
  const problems: SchemaProblem[] = []
  for (let index = 0; index < count && index < itemsMax; index++) {
    const known = written.item(index)
    // No item there, nor any after it.
    if (known.isNone) return problems
    const named = prefix[index]
    const wanted: readonly SchemaIn[] = named === undefined ? rest : [{ schema: named as JsonObject, of }]
    const place = named === undefined ? `${path}/items` : `${path}/prefixItems/${index}`
    for (const one of wanted) problems.push(...comparison.problems(one, known, place))
  }
  if (itemsMax <= count) return problems
  const others = written.item(count)
  for (const one of rest) problems.push(...comparison.problems(one, others, `${path}/items`))
  return problems
}

const uniqueRule: KeywordRule = ({ schema }, written, path) => {
  if (schema['uniqueItems'] !== true || !written.types.has('array')) return []
  if (written.has('uniqueItems', true) || written.smallest('maxItems') <= 1) return []
  return [{ path: `${path}/uniqueItems`, reason: 'uniqueItems is added' }]
}

const containsRule: KeywordRule = (reader, written, path, comparison) => {
  const [wanted] = within(reader, 'contains')
  if (wanted === undefined || !written.types.has('array')) return []
  const least = numberOr(reader.schema['minContains'], 1)
  const most = numberOr(reader.schema['maxContains'], Number.POSITIVE_INFINITY)
  if (least === 0 && most === Number.POSITIVE_INFINITY) return []
  const follows = written.facts.some((fact) => {
    const [known] = within(fact, 'contains')
    if (known === undefined || !comparison.same.areSame(wanted, known)) return false
    return (
      numberOr(fact.schema['minContains'], 1) >= least &&
      numberOr(fact.schema['maxContains'], Number.POSITIVE_INFINITY) <= most
    )
  })
  return follows ? [] : [{ path: `${path}/contains`, reason: 'contains is added, changed or narrowed' }]
}

const anyOfRule: KeywordRule = ({ schema, of }, written, path, comparison) => {
  const parts = arrayOf(schema['anyOf'])
  if (parts.length === 0) return []
  const isRead = parts.some(
    (part) => comparison.problems({ schema: part as JsonObject, of }, written, `${path}/anyOf`).length === 0,
  )
  return isRead ? [] : [{ path: `${path}/anyOf`, reason: 'what was written is allowed by none of the alternatives' }]
}

/** One alternative has to allow what was written, and no other any of it. */
const oneOfRule: KeywordRule = ({ schema, of }, written, path, comparison) => {
  const parts = arrayOf(schema['oneOf']).map((part): SchemaIn => ({ schema: part as JsonObject, of }))
  if (parts.length === 0) return []
  const reading = parts.findIndex((part) => comparison.problems(part, written, `${path}/oneOf`).length === 0)
  if (reading < 0) return [{ path: `${path}/oneOf`, reason: 'what was written is allowed by none of the alternatives' }]
  const doubtful = parts.findIndex(
    (part, index) => index !== reading && !areDisjoint(written, WrittenValues.of([part])),
  )
  if (doubtful < 0) return []
  return [
    {
      path: `${path}/oneOf/${doubtful}`,
      reason: `it cannot be decided that this alternative allows nothing that alternative ${reading} allows`,
    },
  ]
}

const notRule: KeywordRule = (reader, written, path, comparison) => {
  const [unwanted] = within(reader, 'not')
  if (unwanted === undefined) return []
  const values = WrittenValues.of([unwanted])
  if (areDisjoint(written, values)) return []
  // What was not to be written has to be as much as is not to be read.
  const follows = written.facts.some((fact) =>
    within(fact, 'not').some((known) => comparison.problems(known, values, path).length === 0),
  )
  return follows ? [] : [{ path: `${path}/not`, reason: 'not is added or excludes more' }]
}

const ifRule: KeywordRule = (reader, written, path, comparison) => {
  const [condition] = within(reader, 'if')
  if (condition === undefined) return []
  const problems: SchemaProblem[] = []
  const isAlwaysMet = comparison.problems(condition, written, `${path}/if`).length === 0
  for (const keyword of isAlwaysMet ? ['then'] : ['then', 'else']) {
    for (const wanted of within(reader, keyword)) {
      const sameCondition = written.facts.filter((fact) =>
        within(fact, 'if').some((known) => comparison.same.areSame(condition, known)),
      )
      const branch = sameCondition.flatMap((fact) => within(fact, keyword))
      const known = WrittenValues.of([...written.facts, ...branch, ...(keyword === 'then' ? [condition] : [])])
      problems.push(...comparison.problems(wanted, known, `${path}/${keyword}`))
    }
  }
  return problems
}

const rules: readonly KeywordRule[] = [
  typeRule,
  listRule,
  ...sizeRules,
  rangeRule,
  multipleRule,
  patternRule,
  itemsRule,
  uniqueRule,
  containsRule,
  objectProblems,
  anyOfRule,
  oneOfRule,
  notRule,
  ifRule,
]

function isAnyOf(written: WrittenValues, ...types: readonly JsonType[]): boolean {
  return types.some((type) => written.types.has(type))
}

function numberOr(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}
