import type { Goal, Row, SideName } from '../report.ts'
import type { Measured } from '../rounds.ts'
import type { LoadReport } from './load.ts'

const microsecondsPerSecond = 1e6

export function valuesOf<Name extends SideName, T>(
  reports: Measured<Name, T>,
  value: (report: T) => number,
): Partial<Record<SideName, number[]>> {
  const values: Partial<Record<SideName, number[]>> = {}
  for (const [name, list] of Object.entries<T[] | undefined>(reports)) values[name as Name] = (list ?? []).map(value)
  return values
}

interface Bound {
  readonly goals?: readonly Goal[]
  readonly reference?: string
}

/** How many and how fast, and what it cost the server and the load. */
export function appendRows<Name extends SideName>(
  name: string,
  reports: Measured<Name, LoadReport>,
  bounds: { readonly rate?: Bound; readonly p50?: Bound; readonly p99?: Bound },
): Row[] {
  const row = (
    what: string,
    unit: string,
    value: (report: LoadReport) => number,
    { goals = [], ...rest }: Bound = {},
  ) => ({
    name: `${name}${what}`,
    unit,
    values: valuesOf(reports, value),
    goals,
    ...rest,
  })
  return [
    row('', 'appends/s', ({ completed, seconds }) => completed / seconds, bounds.rate),
    row(', p50', 'ms', ({ latencyMs }) => latencyMs.p50, bounds.p50),
    row(', p99', 'ms', ({ latencyMs }) => latencyMs.p99, bounds.p99),
    row(', processor time of the server', 'µs/append', serverMicroseconds),
    row(', processor of the load itself', '% core', ({ loadCpuShare }) => 100 * loadCpuShare),
  ]
}

function serverMicroseconds({ serverCpuShare, seconds, completed }: LoadReport): number {
  return (serverCpuShare * seconds * microsecondsPerSecond) / completed
}

export function describeReport(report: LoadReport): string {
  const { completed, seconds, latencyMs, loadCpuShare, serverCpuShare } = report
  const share = (value: number) => `${(100 * value).toFixed(0)} % of a core`
  return (
    `${(completed / seconds).toFixed(1)}/s, p50 ${latencyMs.p50.toFixed(2)} ms, p99 ${latencyMs.p99.toFixed(2)} ms, ` +
    `server ${share(serverCpuShare)}, load ${share(loadCpuShare)}`
  )
}
