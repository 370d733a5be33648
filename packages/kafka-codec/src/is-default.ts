import type { Field } from './field.ts'

/** Whether `value` is what a reader of a version without the field would see. */
export function isDefault(field: Field, value: unknown): boolean {
  const byDefault = field.makeDefault()
  if (value === null || byDefault === null) return value === byDefault
  switch (field.kind) {
    case 'array':
      return Array.isArray(value) && value.length === 0
    case 'bytes':
    case 'records':
      return value instanceof Uint8Array && value.length === 0
    case 'struct':
      return isDefaultStruct(field, value)
    default:
      return value === byDefault
  }
}

function isDefaultStruct(field: Field, value: unknown): boolean {
  const struct = value as Record<string, unknown>
  const unknownTags = struct['unknownTags']
  if (Array.isArray(unknownTags) && unknownTags.length > 0) return false
  return Object.entries(field.fields ?? {}).every(
    ([name, inner]) => struct[name] === undefined || isDefault(inner, struct[name]),
  )
}
