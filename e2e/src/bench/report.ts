import type { ContenderName } from './contenders.ts'

/**
 * Who is measured: over Kafka's protocol, or over HTTP. `node-http` does nothing but answer, and `disk` is the disk alone: they tell what
 * the machine can do. `pico-unjudged`: to a topic that is held to no schema.
 */
export type SideName = ContenderName | 'durable-streams' | 'node-http' | 'disk' | 'pico-unjudged'

/** A bound on one contender's number, alone or as a multiple of another's in the same run. */
export interface Goal {
  readonly of: SideName
  readonly atLeast?: number
  readonly atMost?: number
  /** Without it, the bound is on the number itself. */
  readonly times?: SideName
}

export interface Row {
  readonly name: string
  readonly unit: string
  /** One number a round. */
  readonly values: Partial<Record<SideName, readonly number[]>>
  readonly goals: readonly Goal[]
  /** What was reached elsewhere or on another day: to compare with, and no goal. */
  readonly reference?: string
  /** Load average when it was measured: where others use the machine, times are upper bounds. */
  readonly load?: number
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

export function medianOf(row: Row, name: SideName): number | undefined {
  const values = row.values[name]
  return values === undefined || values.length === 0 ? undefined : median(values)
}

/** Undefined when one of the two did not take part. */
export function meets(row: Row, goal: Goal): boolean | undefined {
  const value = medianOf(row, goal.of)
  const base = goal.times === undefined ? 1 : medianOf(row, goal.times)
  if (value === undefined || base === undefined) return undefined
  return (
    (goal.atLeast === undefined || value >= goal.atLeast * base) &&
    (goal.atMost === undefined || value <= goal.atMost * base)
  )
}

/** A table for a terminal: medians, the spread of rounds, our ratio to each other contender, and the goals. */
export function renderTable(rows: readonly Row[], names: readonly SideName[]): string {
  const others = names.filter((name) => name !== 'pico')
  const references = rows.some(({ reference }) => reference !== undefined) ? ['reference'] : []
  const loads = rows.some(({ load }) => load !== undefined) ? ['load'] : []
  const header = ['case', 'unit', ...names, ...others.map((name) => `pico/${name}`), 'goal', ...references, ...loads]
  const lines = rows.map((row) => [
    row.name,
    row.unit,
    ...names.map((name) => renderValues(row.values[name])),
    ...others.map((name) => renderRatio(medianOf(row, 'pico'), medianOf(row, name))),
    row.goals.map((goal) => renderGoal(row, goal)).join(', '),
    ...references.map(() => row.reference ?? ''),
    ...loads.map(() => row.load?.toFixed(1) ?? ''),
  ])
  const all = [header, ...lines]
  const widths = header.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  return all
    .map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .toSpliced(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
    .join('\n')
}

function renderValues(values: readonly number[] | undefined): string {
  if (values === undefined || values.length === 0) return '-'
  const one = renderNumber(median(values))
  return values.length === 1
    ? one
    : `${one} (${renderNumber(Math.min(...values))}-${renderNumber(Math.max(...values))})`
}

function renderRatio(value: number | undefined, base: number | undefined): string {
  return value === undefined || base === undefined ? '-' : `${(value / base).toFixed(2)} ×`
}

function renderGoal(row: Row, goal: Goal): string {
  const bound = goal.atLeast === undefined ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`
  const times = goal.times === undefined ? '' : ` × ${goal.times}`
  const met = meets(row, goal)
  return `${bound}${times}: ${met === undefined ? 'not measured' : met ? 'met' : 'MISSED'}`
}

function renderNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
