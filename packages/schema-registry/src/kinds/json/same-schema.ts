import { canonicalText } from '../canonical-text.ts'
import { definitionNumber, type FlatSchema } from './flatten-schema.ts'
import type { Json, JsonObject, JsonSchema } from './json-dialects.ts'

/** A schema together with the definitions that its references lead to. */
export interface SchemaIn {
  readonly schema: JsonSchema
  readonly of: FlatSchema
}

export function definitionAt($ref: string, of: FlatSchema): JsonSchema {
  return of.definitions[definitionNumber($ref)] ?? true
}

/** Whether two schemas are word for word the same, whatever their definitions are called. */
export class SameSchemas {
  /** Pairs of schemas under comparison or compared: as long as nothing shows that they differ, they are the same. */
  readonly #pairs = new Map<JsonObject, Map<JsonObject, boolean>>()
  /** Those taken for the same, in order: what was shown with the help of one is forgotten when that one turns out to differ. */
  readonly #taken: [JsonObject, JsonObject][] = []

  areSame(a: SchemaIn, b: SchemaIn): boolean {
    return this.#same(a.schema, a.of, b.schema, b.of)
  }

  #same(a: Json, aOf: FlatSchema, b: Json, bOf: FlatSchema): boolean {
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
      return a.every((item: Json, index) => this.#same(item, aOf, b[index] as Json, bOf))
    }
    return this.#sameObjects(a as JsonObject, aOf, b as JsonObject, bOf)
  }

  #sameObjects(a: JsonObject, aOf: FlatSchema, b: JsonObject, bOf: FlatSchema): boolean {
    let known = this.#pairs.get(a)
    if (known === undefined) {
      known = new Map()
      this.#pairs.set(a, known)
    }
    const earlier = known.get(b)
    if (earlier !== undefined) return earlier
    known.set(b, true)
    const before = this.#taken.length
    this.#taken.push([a, b])
    const keys = Object.keys(a)
    const areSame =
      keys.length === Object.keys(b).length &&
      keys.every((key) => {
        if (!Object.hasOwn(b, key)) return false
        const [inA, inB] = [a[key] as Json, b[key] as Json]
        if (key === '$ref' && typeof inA === 'string' && typeof inB === 'string') {
          return this.#same(definitionAt(inA, aOf), aOf, definitionAt(inB, bOf), bOf)
        }
        return unorderedKeywords.has(key) && Array.isArray(inA) && Array.isArray(inB)
          ? sameMembers(inA, inB)
          : this.#same(inA, aOf, inB, bOf)
      })
    if (!areSame) {
      for (const [one, other] of this.#taken.splice(before)) this.#pairs.get(one)?.delete(other)
      known.set(b, false)
    }
    return areSame
  }
}

/** Their arrays mean sets of values. */
const unorderedKeywords: ReadonlySet<string> = new Set(['required', 'enum', 'type'])

function sameMembers(a: readonly Json[], b: readonly Json[]): boolean {
  const inB = new Set(b.map(canonicalText))
  return new Set(a.map(canonicalText)).size === inB.size && a.every((value) => inB.has(canonicalText(value)))
}
