/** Versions as Kafka's own message descriptions write them: `'3+'`, `'0-12'`, `'4'`; never empty. */
export type VersionRange = `${number}` | `${number}+` | `${number}-${number}`

const pattern = /^(\d+)(?:(\+)|-(\d+))?$/

export function includesVersion(range: VersionRange, version: number): boolean {
  const match = pattern.exec(range)
  if (match === null) throw new TypeError(`bad version range: ${range}`)
  const [, first, plus, last = first] = match
  return version >= Number(first) && (plus !== undefined || version <= Number(last))
}
