import type { WrittenValues } from './written-values.ts'

/** How deep properties are looked into. */
const depthMax = 3

/** Whether it is plain that no value is among both: by type, by listed values, or by such a property that both require. */
export function areDisjoint(a: WrittenValues, b: WrittenValues, depth = 0): boolean {
  if (a.isNone || b.isNone || areApart(a.types, b.types)) return true
  const { listedValues: inA } = a
  const { listedValues: inB } = b
  if (inA !== null && inB !== null && areApart(inA, inB)) return true
  if (depth === depthMax || !isOnly(a, 'object') || !isOnly(b, 'object')) return false
  return [...a.required].some(
    (name) =>
      isForbidden(b, name) || (b.required.has(name) && areDisjoint(a.property(name), b.property(name), depth + 1)),
  )
}

function areApart<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean {
  return [...a].every((member) => !b.has(member))
}

function isOnly(values: WrittenValues, type: 'object'): boolean {
  return values.types.size === 1 && values.types.has(type)
}

function isForbidden(values: WrittenValues, name: string): boolean {
  return values.property(name).isNone
}
