/** The first of each key, in order, and the keys that come more than once. One pass: requests may name very many things. */
export function withoutRepeats<T>(
  asked: readonly T[],
  keyOf: (one: T) => string,
): { readonly firsts: T[]; readonly repeated: ReadonlySet<string> } {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  const firsts: T[] = []
  for (const one of asked) {
    const key = keyOf(one)
    if (seen.has(key)) repeated.add(key)
    else firsts.push(one)
    seen.add(key)
  }
  return { firsts, repeated }
}
