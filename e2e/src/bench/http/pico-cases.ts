import { startPico } from '../../pico.ts'
import { peakRssBytes } from '../../process-usage.ts'
import { settleDisk } from '../machine.ts'
import type { Goal, Row } from '../report.ts'
import { type RoundSettings, roundsOf } from '../rounds.ts'
import { type AppendLoad, type LoadReport, runLoad } from './load.ts'
import { createStream } from './prepare.ts'
import { appendRows, describeReport, valuesOf } from './report-rows.ts'

const recordBytes = 1024
const recordsPerBatch = 100
const bytesPerMegabyte = 1024 * 1024

const atMost = (bound: number): Goal[] => [{ of: 'pico', atMost: bound }]
const atLeast = (bound: number): Goal[] => [{ of: 'pico', atLeast: bound }]

/** What PicoMQ's earlier server, in Rust, reached with a client of its own on such a machine, on days of its own. */
const rust = (figure: string) => `Rust server, another day: ${figure}`

/** Pico alone, with its own protocol, a local folder and the default write-ahead log. All to one stream. */
export async function benchPicoAppends(settings: RoundSettings): Promise<Row[]> {
  const single = { contentType: 'application/octet-stream', body: { recordBytes } }
  const batches = { contentType: 'application/vnd.picomq.batch', body: { recordBytes, recordsPerBatch } }
  const one = await measure('append 1 KiB, one in flight', settings, { ...single, connections: 1 })
  const some = await measure('append 1 KiB, 32 in flight', settings, { ...single, connections: 32 })
  const many = await measure('append 1 KiB, 256 in flight', settings, { ...single, connections: 256 })
  const large = await measure(`append ${recordsPerBatch} × 1 KiB, 64 in flight`, settings, {
    ...batches,
    connections: 64,
  })
  const megabytesPerSecond = ({ bytes, seconds }: PicoReport) => bytes / bytesPerMegabyte / seconds
  return [
    ...appendRows(one.name, one.reports, { p50: { goals: atMost(1), reference: rust('2.5') } }),
    ...appendRows(some.name, some.reports, {
      rate: { goals: atLeast(20_000), reference: rust('10,200') },
      p50: { goals: atMost(3.2), reference: rust('3.2') },
      p99: { goals: atMost(5.4), reference: rust('5.4') },
    }),
    ...appendRows(many.name, many.reports, { rate: { goals: atLeast(23_100), reference: rust('23,100') } }),
    {
      name: large.name,
      unit: 'MB/s',
      values: valuesOf(large.reports, megabytesPerSecond),
      goals: atLeast(137),
      reference: rust('137'),
    },
    {
      name: `${large.name}, most memory`,
      unit: 'MB',
      values: valuesOf(large.reports, ({ peakRssBytes }) => peakRssBytes / bytesPerMegabyte),
      goals: atMost(341),
      reference: rust('341'),
    },
    ...appendRows(large.name, large.reports, {}),
  ]
}

interface PicoReport extends LoadReport {
  readonly peakRssBytes: number
}

async function measure(
  name: string,
  settings: RoundSettings,
  load: Pick<AppendLoad, 'contentType' | 'body' | 'connections'>,
) {
  console.error(name)
  const reports = await roundsOf(
    [{ name: 'pico' as const }],
    settings,
    describeReport,
    async (): Promise<PicoReport> => {
      // A fresh one, so that the most memory it ever had is that of this load.
      const pico = await startPico()
      try {
        const port = Number(new URL(pico.httpUrl).port)
        const { pid } = pico.process
        await createStream(port, '/bench', load.contentType)
        await settleDisk()
        const report = await runLoad({
          kind: 'append',
          port,
          serverPid: pid,
          paths: ['/bench'],
          expectedStatus: 200,
          warmupMs: 3000 * settings.scale,
          measuredMs: 8000 * settings.scale,
          ...load,
        })
        return { ...report, peakRssBytes: peakRssBytes(pid) }
      } finally {
        await pico.close()
      }
    },
  )
  return { name, reports }
}
