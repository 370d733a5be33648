import type { Contender, ContenderName } from './contenders.ts'

export interface RoundSettings {
  readonly rounds: number
  /** Share of the full amount of data; a quick run has less of it. */
  readonly scale: number
}

/** Measures every contender once a round, in turn, so that a change of the machine's mood meets all of them. */
export async function rounds(
  contenders: readonly Contender[],
  settings: RoundSettings,
  measure: (contender: Contender, round: number) => Promise<number>,
): Promise<Partial<Record<ContenderName, number[]>>> {
  const values: Partial<Record<ContenderName, number[]>> = {}
  for (let round = 1; round <= settings.rounds; round++) {
    for (const contender of contenders) {
      const value = await measure(contender, round)
      const soFar = values[contender.name] ?? []
      values[contender.name] = soFar
      soFar.push(value)
      console.error(`  round ${round}: ${contender.name} ${value.toFixed(2)}`)
    }
  }
  return values
}
