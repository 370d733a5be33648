import { fileURLToPath } from 'node:url'
import { accepts, freePort, startProcess } from '../../child-process.ts'
import { startPico } from '../../pico.ts'
import { peakRssBytes } from '../../process-usage.ts'
import { diskBytesPerSecond, settleDisk } from '../machine.ts'
import type { Goal, Row, SideName } from '../report.ts'
import { type Measured, type RoundSettings, roundsOf } from '../rounds.ts'
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

/** On that machine, that day, `node:http` alone answered so many 1 KiB bodies a second at 32 connections. */
const nodeHttpOfThatDay = 54_300
/** Machines of one kind differ by a factor of two from day to day: the same figure as a share of what `node:http` alone does today. */
const ofNodeHttp = (ratePerSecond: number): Goal => ({
  of: 'pico',
  atLeast: Math.round((100 * ratePerSecond) / nodeHttpOfThatDay) / 100,
  times: 'node-http',
})

/** That machine's disk took so much that day, in synced writes of 8 MiB. */
const diskMegabytesPerSecondOfThatDay = 286
const ofDisk = (megabytesPerSecond: number): Goal => ({
  of: 'pico',
  atLeast: Math.round((100 * megabytesPerSecond) / diskMegabytesPerSecondOfThatDay) / 100,
  times: 'disk',
})

interface PicoCase {
  readonly name: string
  readonly load: Pick<AppendLoad, 'contentType' | 'body' | 'connections'>
  readonly rows: (name: string, reports: Measured<SideName, PicoReport>) => Row[]
}

const single = { contentType: 'application/octet-stream', body: { recordBytes } }
const batches = { contentType: 'application/vnd.picomq.batch', body: { recordBytes, recordsPerBatch } }

const cases: readonly PicoCase[] = [
  {
    name: 'append 1 KiB, one in flight',
    load: { ...single, connections: 1 },
    rows: (name, reports) => appendRows(name, reports, { p50: { goals: atMost(1), reference: rust('2.5') } }),
  },
  {
    name: 'append 1 KiB, 32 in flight',
    load: { ...single, connections: 32 },
    rows: (name, reports) =>
      appendRows(name, reports, {
        rate: { goals: [...atLeast(20_000), ofNodeHttp(20_000), ofNodeHttp(10_200)], reference: rust('10,200') },
        p50: { goals: atMost(3.2), reference: rust('3.2') },
        p99: { goals: atMost(5.4), reference: rust('5.4') },
      }),
  },
  {
    name: 'append 1 KiB, 256 in flight',
    load: { ...single, connections: 256 },
    rows: (name, reports) =>
      appendRows(name, reports, {
        rate: { goals: [...atLeast(23_100), ofNodeHttp(23_100)], reference: rust('23,100') },
      }),
  },
  {
    name: `append ${recordsPerBatch} × 1 KiB, 64 in flight`,
    load: { ...batches, connections: 64 },
    rows: (name, reports) => [
      {
        name,
        unit: 'MB/s',
        values: {
          ...valuesOf(reports, ({ bytes, seconds }) => bytes / bytesPerMegabyte / seconds),
          disk: (reports.pico ?? []).flatMap(({ diskBytesPerSecond: rate }) =>
            rate === undefined ? [] : rate / bytesPerMegabyte,
          ),
        },
        goals: [...atLeast(137), ofDisk(137)],
        reference: rust('137'),
      },
      {
        name: `${name}, most memory`,
        unit: 'MB',
        values: valuesOf(reports, ({ peakRssBytes }) => peakRssBytes / bytesPerMegabyte),
        goals: atMost(341),
        reference: rust('341'),
      },
      ...appendRows(name, reports, {}),
    ],
  },
]

/**
 * Pico with its own protocol, a local folder and the default write-ahead log, all to one stream; beside a server that does nothing but
 * answer, as a measure of the machine.
 */
export async function benchPicoAppends(settings: RoundSettings): Promise<Row[]> {
  const rows: Row[] = []
  for (const each of cases) {
    if (!settings.isWanted(each.name)) continue
    console.error(each.name)
    rows.push(...each.rows(each.name, await measure(each.load, settings)))
  }
  return rows
}

interface PicoReport extends LoadReport {
  readonly peakRssBytes: number
  /** Of the machine, just before; of batches, which are what a disk can hold up. */
  readonly diskBytesPerSecond: number | undefined
}

/** A server to post to at `/bench`. */
interface Posted {
  readonly port: number
  readonly pid: number
  close(): Promise<unknown>
}

const sides = [
  { name: 'node-http' as const, start: startNodeHttp },
  { name: 'pico' as const, start: startPicoFor },
]

function measure(load: PicoCase['load'], settings: RoundSettings): Promise<Measured<SideName, PicoReport>> {
  return roundsOf(sides, settings, describeReport, async ({ start }): Promise<PicoReport> => {
    const disk = load.body.recordsPerBatch === undefined ? undefined : await diskBytesPerSecond()
    // A fresh one, so that the most memory it ever had is that of this load.
    const server = await start(load.contentType)
    try {
      await settleDisk()
      const report = await runLoad({
        kind: 'append',
        port: server.port,
        serverPid: server.pid,
        paths: ['/bench'],
        expectedStatus: 200,
        warmupMs: 3000 * settings.scale,
        measuredMs: 8000 * settings.scale,
        ...load,
      })
      return { ...report, peakRssBytes: peakRssBytes(server.pid), diskBytesPerSecond: disk }
    } finally {
      await server.close()
    }
  })
}

async function startPicoFor(contentType: string): Promise<Posted> {
  const pico = await startPico()
  const port = Number(new URL(pico.httpUrl).port)
  await createStream(port, '/bench', contentType)
  return { port, pid: pico.process.pid, close: () => pico.close() }
}

async function startNodeHttp(): Promise<Posted> {
  const port = await freePort()
  const program = fileURLToPath(new URL('node-http-server.ts', import.meta.url))
  const args = [program, `${port}`]
  const running = await startProcess({
    name: 'node-http',
    ownSession: true,
    command: process.execPath,
    args,
    ready: () => accepts(port),
  })
  return { port, pid: running.pid, close: () => running.stop() }
}
