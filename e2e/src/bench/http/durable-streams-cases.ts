import { settleDisk } from '../machine.ts'
import type { Row } from '../report.ts'
import { type RoundSettings, roundsOf } from '../rounds.ts'
import { postRequest } from './append-request.ts'
import { type HttpContender, openHttpContest } from './contest.ts'
import { type LoadReport, runLoad } from './load.ts'
import { appendRepeatedly, createStream, deleteStream } from './prepare.ts'
import { appendRows, describeReport, valuesOf } from './report-rows.ts'

const connections = 64
const recordBytes = 1024
const bytesPerMegabyte = 1024 * 1024
const octets = 'application/octet-stream'
const ahead = [{ of: 'pico', atLeast: 1, times: 'durable-streams' }] as const

/** Both speak Durable Streams and are sent the same bytes. Both have synced what they acknowledge. */
export async function benchDurableStreams(settings: RoundSettings): Promise<Row[]> {
  const appends = [1, connections].filter((streams) => settings.isWanted(appendCaseName(streams)))
  const catchUps = catchUpCases(settings.scale).filter(({ name }) => settings.isWanted(name))
  if (appends.length + catchUps.length === 0) return []
  const contenders = await openHttpContest()
  try {
    const rows: Row[] = []
    for (const streams of appends) rows.push(...(await benchAppends(contenders, settings, streams)))
    for (const each of catchUps) rows.push(await benchCatchUp(contenders, settings, each))
    return rows
  } finally {
    for (const contender of contenders) await contender.close()
  }
}

function appendCaseName(streams: number): string {
  return `append 1 KiB over ${connections} connections to ${streams === 1 ? 'one stream' : `${streams} streams`}`
}

async function benchAppends(
  contenders: readonly HttpContender[],
  settings: RoundSettings,
  streams: number,
): Promise<Row[]> {
  const name = appendCaseName(streams)
  console.error(name)
  const reports = await roundsOf(contenders, settings, describeReport, async ({ port, pid }, round) => {
    const paths = Array.from({ length: streams }, (_, index) => pathOf(`append-${streams}-${round}-${index}`))
    for (const path of paths) await createStream(port, path, octets)
    await settleDisk()
    const report = await runLoad({
      kind: 'append',
      port,
      serverPid: pid,
      connections,
      paths,
      contentType: octets,
      body: { recordBytes },
      expectedStatus: 204,
      warmupMs: 3000 * settings.scale,
      measuredMs: 8000 * settings.scale,
    })
    // The reference server holds 100 files open, and answers 404 for a stream whose file it closes meanwhile.
    for (const path of paths) await deleteStream(port, path)
    return report
  })
  return appendRows(name, reports, { rate: { goals: ahead } })
}

interface CatchUpCase {
  readonly name: string
  readonly readers: number
  readonly contentType: string
  readonly appends: number
  readonly body: Buffer
  /** Of the data, without what the encoding of an answer adds. */
  readonly bytes: number
}

function catchUpCases(scale: number): CatchUpCase[] {
  const many = Math.ceil(1024 * scale)
  const message = JSON.stringify('x'.repeat(recordBytes - 2))
  const large = Math.ceil(64 * bytesPerMegabyte * scale)
  return [
    {
      name: `catch-up, ${connections} readers of ${many} appends of 1 KiB`,
      readers: connections,
      contentType: octets,
      appends: many,
      body: Buffer.alloc(recordBytes, 'x'),
      bytes: many * recordBytes,
    },
    {
      name: `catch-up, one reader of ${large / bytesPerMegabyte} MiB in appends of 64 KiB`,
      readers: 1,
      contentType: octets,
      appends: large / 65_536,
      body: Buffer.alloc(65_536, 'x'),
      bytes: large,
    },
    {
      name: `catch-up, one reader of ${large / bytesPerMegabyte} MiB in JSON messages of 1 KiB`,
      readers: 1,
      contentType: 'application/json',
      appends: large / (256 * recordBytes),
      body: Buffer.from(`[${Array<string>(256).fill(message).join()}]`),
      bytes: large,
    },
  ]
}

async function benchCatchUp(
  contenders: readonly HttpContender[],
  settings: RoundSettings,
  { name, readers, contentType, appends, body, bytes: wholeBytes }: CatchUpCase,
): Promise<Row> {
  console.error(name)
  const path = pathOf(name.replace(/\W+/g, '-'))
  for (const { port } of contenders) {
    await createStream(port, path, contentType)
    await appendRepeatedly(port, postRequest(path, contentType, body), appends)
  }
  await settleDisk()
  const reports = await roundsOf(contenders, settings, describeReport, ({ port, pid }) =>
    runLoad({
      kind: 'read',
      port,
      serverPid: pid,
      connections: readers,
      path,
      expectedBytes: wholeBytes,
      warmupMs: 2000 * settings.scale,
      measuredMs: 6000 * settings.scale,
    }),
  )
  // One reader's readings are few in the time: the middle one tells more than how many were whole when it was up.
  const megabytesPerSecond = ({ bytes, seconds, latencyMs }: LoadReport) =>
    (readers === 1 ? wholeBytes / (latencyMs.p50 / 1000) : bytes / seconds) / bytesPerMegabyte
  return { name, unit: 'MB/s', values: valuesOf(reports, megabytesPerSecond), goals: ahead }
}

/** As the official suite places its streams. */
function pathOf(name: string): string {
  return `/v1/stream/${name}`
}
