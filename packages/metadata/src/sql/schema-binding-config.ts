import assert from 'node:assert/strict'

/** The version of a schema that `pico.schema` names, always as `name:version`; null where there is none. */
export function boundSchema(
  config: Readonly<Record<string, string>>,
): { readonly name: string; readonly version: number } | null {
  const text = config['pico.schema']
  if (text === undefined) return null
  const [, name, version] = /^([A-Za-z0-9._-]+):([1-9]\d{0,14})$/.exec(text) ?? []
  assert(name !== undefined && version !== undefined, `pico.schema is no version of a schema: ${text}`)
  return { name, version: Number(version) }
}
