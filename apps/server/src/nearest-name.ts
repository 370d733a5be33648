/** Of `known`, the name that `given` was most likely meant to be; undefined when none is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const farthest = Math.max(1, Math.floor(given.length / 4))
  let nearest: string | undefined
  let least = farthest + 1
  for (const name of known) {
    const distance = editDistance(given, name)
    if (distance < least) [nearest, least] = [name, distance]
  }
  return nearest
}

/** Levenshtein's: characters put in, left out or changed. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const changed = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(changed, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[b.length] ?? 0
}
