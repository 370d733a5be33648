import { describeLiveReport, fullLiveLoad, measureLiveReaders } from '../live/live-readers.ts'
import type { LiveReport } from '../live/live-spec.ts'
import type { Goal, Row } from './report.ts'
import { type RoundSettings, roundsOf } from './rounds.ts'

/** How soon 2,000 readers have what is appended to their 100 streams, what they cost, and what a stuck one does to them. */
export async function benchLiveReaders(settings: RoundSettings): Promise<Row[]> {
  const { readers, streams, appendsPerSecond } = fullLiveLoad
  const name = `${readers} live readers on ${streams} streams, ${appendsPerSecond} appends/s`
  if (!settings.isWanted(name)) return []
  console.error(name)
  const load = { ...fullLiveLoad, seconds: fullLiveLoad.seconds * settings.scale }
  const { pico: reports = [] } = await roundsOf([{ name: 'pico' as const }], settings, describeLiveReport, () =>
    measureLiveReaders(load),
  )
  const row = (what: string, unit: string, value: (report: LiveReport) => number, atMost?: number): Row => {
    const goals: Goal[] = atMost === undefined ? [] : [{ of: 'pico', atMost }]
    return { name: `${name}: ${what}`, unit, values: { pico: reports.map(value) }, goals }
  }
  return [
    row('from sent to received, p50', 'ms', ({ delivery }) => delivery.fromSent.p50),
    row('from sent to received, p99', 'ms', ({ delivery }) => delivery.fromSent.p99, 100),
    row('from acknowledged to received, p99', 'ms', ({ delivery }) => delivery.fromAcknowledged.p99),
    row('processor of the server', '% core', ({ serverCpuShare }) => 100 * serverCpuShare),
    row('processor of the load itself', '% core', ({ loadCpuShare }) => 100 * loadCpuShare),
    row('memory of an idle reader', 'KB', ({ idleReaderBytes }) => idleReaderBytes / 1024, 20),
    row('processor when all are idle', '% core', ({ idleCpuShare }) => 100 * idleCpuShare),
    row('from sent to received beside a stuck reader, p99', 'ms', ({ besideStuck }) => besideStuck.fromSent.p99, 100),
    row('memory that a stuck reader costs', 'MB', ({ stuckGrowthBytes }) => stuckGrowthBytes / 1024 ** 2, 64),
  ]
}
