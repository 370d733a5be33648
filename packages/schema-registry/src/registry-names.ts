/** Of a schema's name, which is also Confluent's word for it: a subject. */
export const schemaNameLengthMax = 249

/** What is wrong with a name, or null. */
export function schemaNameProblem(name: string): string | null {
  if (name.length === 0 || name.length > schemaNameLengthMax) {
    return `a schema's name has 1 to ${schemaNameLengthMax} characters`
  }
  if (!/^[A-Za-z0-9._-]+$/.test(name)) return "a schema's name has letters, digits, dots, dashes and underscores only"
  // A path of HTTP has no such segment.
  return name === '.' || name === '..' ? `a schema's name is not "${name}"` : null
}

/** `orders`, `orders:3`; null for what is neither. */
export function parseSchemaVersion(text: string): { readonly name: string; readonly version: number | null } | null {
  const [, name = '', version] = /^([^:]*)(?::([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (schemaNameProblem(name) !== null) return null
  return { name, version: version === undefined ? null : Number(version) }
}
