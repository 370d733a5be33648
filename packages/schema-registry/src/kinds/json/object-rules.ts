import type { SchemaProblem } from '../../schema.ts'
import { pointerStep } from '../schema-kind.ts'
import type { Json, JsonObject } from './json-dialects.ts'
import type { Comparison } from './json-incompatibilities.ts'
import type { KeywordRule } from './keyword-rules.ts'
import type { SchemaIn } from './same-schema.ts'
import {
  constraintsOnProperty,
  type Fact,
  objectOf,
  ownSchema,
  stringsOf,
  type WrittenValues,
  within,
} from './written-values.ts'

/**
 * Of objects. In an open content model anybody may have written any property, so a property that the reader adds may be there
 * already, with any value; in a closed one it is not.
 */
export const objectProblems: KeywordRule = (reader, written, path, comparison) => {
  if (!written.types.has('object')) return []
  return [
    ...requiredProblems(reader, written, path),
    ...propertyProblems(reader, written, path, comparison),
    ...patternProblems(reader, written, path, comparison),
    ...otherProblems(reader, written, path, comparison),
    ...nameProblems(reader, written, path, comparison),
    ...dependencyProblems(reader, written, path, comparison),
  ]
}

function requiredProblems({ schema }: Fact, written: WrittenValues, path: string): SchemaProblem[] {
  const { required } = written
  return stringsOf(schema['required'])
    .filter((name) => !required.has(name))
    .map((name) => ({ path: `${path}/required`, reason: `the property ${JSON.stringify(name)} is required now` }))
}

/** Of every property that either side names: what the reader wants of it. */
function propertyProblems(reader: Fact, written: WrittenValues, path: string, comparison: Comparison): SchemaProblem[] {
  const names = new Set([...Object.keys(objectOf(reader.schema['properties'])), ...written.propertyNames])
  return [...names].flatMap((name) => {
    const place = `${path}/properties${pointerStep(name)}`
    const known = written.property(name)
    if (known.isNone) return []
    const isNamed = ownSchema(reader.schema['properties'], name) !== undefined
    return constraintsOnProperty(reader, name).flatMap((wanted) => {
      if (wanted.schema === false) {
        return [
          {
            path: place,
            reason: isNamed ? 'the property may not be there any more' : 'removed from a closed content model',
          },
        ]
      }
      const problems = comparison.problems(wanted, known, place)
      if (problems.length === 0 || !isNamed || known.facts.length > 0) return problems
      return [{ path: place, reason: 'added to an open content model, where it may have been written with any value' }]
    })
  })
}

/** Of properties that no one names: what the reader wants of those that match its patterns. */
function patternProblems(reader: Fact, written: WrittenValues, path: string, comparison: Comparison): SchemaProblem[] {
  return Object.entries(objectOf(reader.schema['patternProperties'])).flatMap(([pattern, schema]) => {
    const wanted: SchemaIn = { schema: schema as JsonObject, of: reader.of }
    const place = `${path}/patternProperties${pointerStep(pattern)}`
    if (written.propertyPatterns.has(pattern))
      return comparison.problems(wanted, written.propertiesMatching(pattern), place)
    // A property that matches may match any of the writer's patterns as well, or none.
    const known = [...written.propertyPatterns].map((other) => written.propertiesMatching(other))
    return [...known, written.otherProperties].flatMap((values) => comparison.problems(wanted, values, place))
  })
}

function otherProblems(reader: Fact, written: WrittenValues, path: string, comparison: Comparison): SchemaProblem[] {
  const place = `${path}/additionalProperties`
  const ownPatterns = objectOf(reader.schema['patternProperties'])
  return within(reader, 'additionalProperties').flatMap((wanted) => {
    const matching = [...written.propertyPatterns].filter((pattern) => !Object.hasOwn(ownPatterns, pattern))
    const known = [...matching.map((pattern) => written.propertiesMatching(pattern)), written.otherProperties]
    return known.flatMap((values) => {
      const problems = comparison.problems(wanted, values, place)
      if (problems.length === 0 || wanted.schema !== false) return problems
      return [{ path: place, reason: 'the content model is closed: other properties may have been written' }]
    })
  })
}

function nameProblems(reader: Fact, written: WrittenValues, path: string, comparison: Comparison): SchemaProblem[] {
  return within(reader, 'propertyNames').flatMap((wanted) =>
    comparison.problems(wanted, written.names(), `${path}/propertyNames`),
  )
}

function dependencyProblems(
  reader: Fact,
  written: WrittenValues,
  path: string,
  comparison: Comparison,
): SchemaProblem[] {
  const { schema, of } = reader
  const problems: SchemaProblem[] = []
  for (const [name, needed] of Object.entries(objectOf(schema['dependentRequired']))) {
    if (written.property(name).isNone) continue
    const known = written.facts.flatMap((fact) => stringsOf(ownSchema(fact.schema['dependentRequired'], name)))
    const present = new Set([...written.required, ...known, name])
    const missing = stringsOf(needed).filter((other) => !present.has(other))
    if (missing.length === 0) continue
    problems.push({
      path: `${path}/dependentRequired${pointerStep(name)}`,
      reason: `${missing.map((other) => JSON.stringify(other)).join(', ')} is required now where ${JSON.stringify(name)} is`,
    })
  }
  for (const [name, wanted] of Object.entries(objectOf(schema['dependentSchemas']))) {
    if (written.property(name).isNone) continue
    const known = written.facts.flatMap((fact): SchemaIn[] => {
      const schemaOfName: Json | undefined = ownSchema(fact.schema['dependentSchemas'], name)
      return schemaOfName === undefined ? [] : [{ schema: schemaOfName as JsonObject, of: fact.of }]
    })
    const place = `${path}/dependentSchemas${pointerStep(name)}`
    problems.push(...comparison.problems({ schema: wanted as JsonObject, of }, written.and(...known), place))
  }
  return problems
}
