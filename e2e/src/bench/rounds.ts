export interface RoundSettings {
  readonly rounds: number
  /** Share of the full amount of data; a quick run has less of it. */
  readonly scale: number
  /** Whether to measure the case of that name at all. */
  readonly isWanted: (caseName: string) => boolean
}

/** By whom it was measured; one of each round. */
export type Measured<Name extends string, T> = Partial<Record<Name, T[]>>

/** Measures every contender once a round, in turn, so that a change of the machine's mood meets all of them. */
export function rounds<Contender extends { readonly name: string }>(
  contenders: readonly Contender[],
  settings: RoundSettings,
  measure: (contender: Contender, round: number) => Promise<number>,
): Promise<Measured<Contender['name'], number>> {
  return roundsOf(contenders, settings, (value) => value.toFixed(2), measure)
}

/** The same where what is measured is more than a number. */
export async function roundsOf<Contender extends { readonly name: string }, T>(
  contenders: readonly Contender[],
  settings: RoundSettings,
  describe: (value: T) => string,
  measure: (contender: Contender, round: number) => Promise<T>,
): Promise<Measured<Contender['name'], T>> {
  const values: Measured<Contender['name'], T> = {}
  for (let round = 1; round <= settings.rounds; round++) {
    for (const contender of contenders) {
      const value = await measure(contender, round)
      const name: Contender['name'] = contender.name
      const soFar: T[] = values[name] ?? []
      values[name] = soFar
      soFar.push(value)
      console.error(`  round ${round}: ${name} ${describe(value)}`)
    }
  }
  return values
}
