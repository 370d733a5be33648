/** Those keys that come more than once. One pass: requests may name very many things. */
export function repeatedKeys(keys: Iterable<string>): ReadonlySet<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) repeated.add(key)
    seen.add(key)
  }
  return repeated
}
