import { SchemaRefusal } from '../schema-kind.ts'
import type { Json } from './json-dialects.ts'

/**
 * A regular expression as ECMA-262 has it, Unicode ones first, as JSON Schema asks for (core, section 6.4). Many a schema in use
 * escapes what need not be escaped, such as `\_`, which only the others allow. Throws `SyntaxError`.
 */
export function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u')
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return new RegExp(source)
  }
}

/** Throws `SchemaRefusal`. */
export function checkPattern(source: Json, path: string): void {
  if (typeof source !== 'string') return
  try {
    patternOf(source)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SchemaRefusal(path, error.message.slice(0, 300))
  }
}
