import type { SchemaProblem } from '../../schema.ts'
import type { FlatSchema } from './flatten-schema.ts'
import type { Json, JsonObject } from './json-dialects.ts'
import { keywordProblems } from './keyword-rules.ts'
import { SameSchemas, type SchemaIn } from './same-schema.ts'
import { arrayOf, type Fact, type JsonType, WrittenValues } from './written-values.ts'

/**
 * Why not every value that `writer` allows is allowed by `reader`: the rules of Confluent's registry for JSON Schema, read as what
 * they mean. Each keyword of the reader has to follow from what the writer says. Where that would need more than is tried here,
 * it does not count as following, so there may be a reason for which no value exists, but never a value without a reason.
 */
export function jsonIncompatibilities(reader: FlatSchema, writer: FlatSchema): readonly SchemaProblem[] {
  const comparison = new Comparison()
  return comparison.problems(
    { schema: reader.root, of: reader },
    WrittenValues.of([{ schema: writer.root, of: writer }]),
    '',
  )
}

/** Alternatives within alternatives are compared each with each: whoever has this many would wait for the deadline. */
const stepsMax = 200_000

export class Comparison {
  readonly same = new SameSchemas()
  /** What is under comparison: that one follows from the other may be used to show it of something inside (recursive schemas). */
  readonly #assumed = new Set<string>()
  readonly #ids = new Map<Json, number>()
  /** By the schema that they are of: without its first keyword of alternatives. */
  readonly #rests = new Map<JsonObject, JsonObject>()
  readonly #types = new Map<JsonType, JsonObject>()
  #steps = 0

  /** Why values known as `written` need not be valid against `reader`, which stands at `path`. */
  problems(reader: SchemaIn, written: WrittenValues, path: string): readonly SchemaProblem[] {
    if (++this.#steps > stepsMax)
      return [{ path, reason: 'too many alternatives to decide whether what was written can be read' }]
    if (reader.schema === true || this.#allowsNothing(written)) return []
    if (reader.schema === false) return [{ path, reason: 'no value is allowed any more' }]
    // A reader without facts wants nothing; one of several wants them all.
    const wanted = WrittenValues.of([reader])
    if (wanted.isNone) return [{ path, reason: 'no value is allowed any more' }]

    const pair = `${this.#idOf([reader])}|${this.#idOf(written.facts)}`
    if (this.#assumed.has(pair)) return []
    const before = this.#assumed.size
    this.#assumed.add(pair)
    const problems = wanted.facts.flatMap((fact) => this.#problemsOfFact(fact, written, path))
    if (problems.length > 0) this.#forgetSince(before)
    return problems
  }

  /** What was shown with the help of something that turns out not to hold. */
  #forgetSince(size: number): void {
    for (const pair of [...this.#assumed].slice(size)) this.#assumed.delete(pair)
  }

  #allowsNothing(written: WrittenValues): boolean {
    return written.isNone || written.types.size === 0
  }

  #problemsOfFact(fact: Fact, written: WrittenValues, path: string): readonly SchemaProblem[] {
    if (written.facts.some((known) => this.same.areSame(fact, known))) return []
    const problems = keywordProblems(fact, written, path, this)
    if (problems.length === 0) return []
    // It may follow from each of the alternatives where it does not follow from what they have in common.
    const alternatives = this.#alternativesOf(written).filter((alternative) => !this.#allowsNothing(alternative))
    if (alternatives.length === 0) return problems
    for (const alternative of alternatives) {
      if (++this.#steps > stepsMax) return problems
      const found = this.#problemsOfFact(fact, alternative, path)
      // Those of one alternative say more than those of all together.
      if (found.length > 0) return found
    }
    return []
  }

  /** The parts that the values fall into: by `anyOf` or `oneOf` of a fact, or by type. */
  #alternativesOf(written: WrittenValues): readonly WrittenValues[] {
    for (const fact of written.facts) {
      for (const keyword of ['anyOf', 'oneOf']) {
        const parts = arrayOf(fact.schema[keyword])
        if (parts.length === 0) continue
        const rest = written.facts.map((other) => (other === fact ? this.#without(fact, keyword) : other))
        return parts.map((part) => WrittenValues.of([...rest, { schema: part as JsonObject, of: fact.of }]))
      }
    }
    const [first] = written.facts
    const types = [...written.types].filter((type) => type !== 'integer' || !written.types.has('number'))
    if (first === undefined || types.length < 2) return []
    return types.map((type) => WrittenValues.of([...written.facts, { schema: this.#ofType(type), of: first.of }]))
  }

  /** The same object each time: recursion ends where things are met again. */
  #without({ schema, of }: Fact, keyword: string): SchemaIn {
    let rest = this.#rests.get(schema)
    if (rest === undefined) {
      const { [keyword]: _, ...others } = schema
      rest = others
      this.#rests.set(schema, rest)
    }
    return { schema: rest, of }
  }

  #ofType(type: JsonType): JsonObject {
    const schema = this.#types.get(type) ?? { type }
    this.#types.set(type, schema)
    return schema
  }

  #idOf(schemas: readonly SchemaIn[]): string {
    return schemas
      .map(({ schema, of }) => `${this.#number(schema)}.${this.#number(of as unknown as JsonObject)}`)
      .join(' ')
  }

  #number(value: Json): number {
    const known = this.#ids.get(value)
    if (known !== undefined) return known
    this.#ids.set(value, this.#ids.size)
    return this.#ids.size - 1
  }
}
