import type { FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { canonicalText } from '../canonical-text.ts'

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
