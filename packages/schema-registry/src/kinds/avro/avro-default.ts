import { type AvroType, typeName } from './avro-model.ts'

/**
 * Why a default, which is written in JSON, is none of its type; null if it is. Of a union any branch may have it, as in Avro's own
 * implementations since 1.12.
 */
export function defaultProblem(type: AvroType, value: unknown): string | null {
  return isDefault(type, value) ? null : `the default is no ${typeName(type)}`
}

function isDefault(type: AvroType, value: unknown): boolean {
  switch (type.kind) {
    case 'null':
      return value === null
    case 'boolean':
      return typeof value === 'boolean'
    case 'int':
      return value === ((value as number) | 0)
    case 'long':
      return Number.isInteger(value) && Math.abs(value as number) <= 2 ** 63
    case 'float':
    case 'double':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'bytes':
      return isBytes(value)
    case 'fixed':
      return isBytes(value) && (value as string).length === type.size
    case 'enum':
      return type.symbols.includes(value as string)
    case 'array':
      return Array.isArray(value) && value.every((item) => isDefault(type.items, item))
    case 'map':
      return isObject(value) && Object.values(value).every((item) => isDefault(type.values, item))
    case 'union':
      return type.branches.some((branch) => isDefault(branch, value))
    case 'record':
      return (
        isObject(value) &&
        type.fields.every((field) =>
          Object.hasOwn(value, field.name) ? isDefault(field.type, value[field.name]) : field.hasDefault,
        )
      )
  }
}

/** The code points of the string stand for bytes. */
function isBytes(value: unknown): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are bytes here
  return typeof value === 'string' && /^[\u0000-\u00ff]*$/.test(value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
