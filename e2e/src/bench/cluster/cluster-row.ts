import { loadavg } from 'node:os'
import type { Row } from '../report.ts'
import type { Spread } from './pauses.ts'

/** A number of a cluster, with what it should be. Once each: it is a percentile of many already. */
export function clusterRow(name: string, unit: string, value: number, atMost?: number): Row {
  const load = loadavg()[0] ?? 0
  const goals = atMost === undefined ? [] : [{ of: 'pico', atMost } as const]
  console.error(`  ${name}: ${value.toFixed(2)} ${unit}${atMost === undefined ? '' : ` (goal ≤ ${atMost})`}`)
  return { name, unit, values: { pico: [value] }, goals, load }
}

/** p50, p99 and the maximum, of which one has a goal. */
export function spreadRows(name: string, unit: string, spread: Spread, goals: Partial<Spread> = {}): Row[] {
  return (['p50', 'p99', 'max'] as const).map((which) =>
    clusterRow(`${name}, ${which}`, unit, spread[which], goals[which]),
  )
}
