/** JSON with the keys of objects sorted: the same for values that are equal, and for no others. */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const object = value as Readonly<Record<string, unknown>>
  const members = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(object[key])}`)
  return `{${members.join(',')}}`
}
