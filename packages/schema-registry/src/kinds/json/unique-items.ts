import type { FuncKeywordDefinition } from 'ajv/dist/2020.js'

/** `uniqueItems` in time proportional to the items' size; ajv compares objects each with each. */
export const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: false,
  error: { message: 'must not have the same item twice' },
  validate: (isWanted: boolean, items: readonly unknown[]) => !isWanted || areUnique(items),
}

function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<unknown>()
  for (const item of items) {
    const key =
      typeof item === 'object' && item !== null
        ? `\0${canonicalText(item)}`
        : typeof item === 'string'
          ? `"${item}`
          : item
    if (seen.has(key)) return false
    seen.add(key)
  }
  return true
}

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
