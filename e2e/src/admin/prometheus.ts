import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../child-process.ts'
import { pythonTools } from '../toolchain.ts'

/** What Prometheus' own Python parser makes of an exposition. A counter's name is without `_total`, as it has it. */
export interface MetricFamily {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'unknown'
  readonly help: string
  readonly samples: readonly MetricSample[]
}

export interface MetricSample {
  /** With `_total`, `_bucket`, `_sum`, `_count`. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const program = join(dirname(fileURLToPath(import.meta.url)), '../../python/read_metrics.py')

/** Reads `/metrics` of a server. Rejects where the parser does, and when a series is there twice. */
export async function scrape(adminUrl: string): Promise<readonly MetricFamily[]> {
  const answer = await fetch(`${adminUrl}/metrics`, { headers: { accept: 'text/plain;version=0.0.4' } })
  const { python } = await pythonTools()
  const { stdout } = await run(python, [program], { input: await answer.text() })
  return JSON.parse(stdout.toString()) as MetricFamily[]
}

/** The value of the only sample of that name whose labels are those, and maybe others. */
export function sampleValue(
  families: readonly MetricFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const found = families
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
  const [sample] = found
  if (sample === undefined || found.length > 1) {
    throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`)
  }
  return sample.value
}

/** Everything that a scrape has a line for, but collections of garbage, of which each kind has lines once it has happened. */
export function seriesOf(families: readonly MetricFamily[]): string[] {
  const lines = families.flatMap(({ samples }) =>
    samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`),
  )
  return lines.filter((line) => !line.startsWith('nodejs_gc_')).sort()
}
