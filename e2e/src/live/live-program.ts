import assert from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../percentile.ts'
import { cpuSeconds, rssBytes } from '../process-usage.ts'
import { Appender } from './appender.ts'
import type { Delivery, LiveReport, LiveSpec, Percentiles } from './live-spec.ts'
import { LiveReader, type OnRecord, type ReaderKind } from './reader.ts'

/** A program: readers on many streams, appends to them, and one reader that is stuck; prints a `LiveReport`. */
const spec: LiveSpec = JSON.parse(process.argv[2] ?? '')
const { port, serverPid } = spec
const kinds: readonly ReaderKind[] = ['sse', 'long-poll']
const stuckPath = '/live/stuck'
const bulkRecordBytes = 256 * 1024
const bulkInFlight = 8
const deliveryTimeoutMs = 60_000

const pathOf = (stream: number) => `/live/${stream}`
const appender = await Appender.open(port, 64)
const bulkAppender = await Appender.open(port, bulkInFlight)

/** By the number that an append has in its body. */
const sentAt: number[] = []
const acknowledgedAt: number[] = []
let received: { append: number; at: number }[] = []
const onTimedRecord: OnRecord = ({ body }, at) => received.push({ append: Number.parseInt(body, 10), at })

for (const path of [...Array.from({ length: spec.streams }, (_, stream) => pathOf(stream)), stuckPath]) {
  const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'PUT' })
  assert(status === 201, `creating ${path}: ${status}`)
  await appender.append(path, Buffer.from('the first record'))
}
const next = Array.from({ length: spec.streams }, () => 1)

await warmUp()
console.error('warm')
const idle = await connectReaders()
const { readers } = idle
console.error('connected')

const ownBefore = process.cpuUsage()
const serverBefore = cpuSeconds(serverPid)
const from = performance.now()
const delivery = await deliver(async () => sleep(spec.seconds * 1000))
const seconds = (performance.now() - from) / 1000
const own = process.cpuUsage(ownBefore)
const serverCpuShare = (cpuSeconds(serverPid) - serverBefore) / seconds

console.error('delivered')
const stuck = await oneIsStuck()
for (const reader of readers) reader.close()
appender.close()
bulkAppender.close()
const report: LiveReport = {
  idleReaderBytes: idle.bytesEach,
  idleCpuShare: idle.cpuShare,
  serverCpuShare,
  loadCpuShare: (own.user + own.system) / 1e6 / seconds,
  delivery,
  ...stuck,
}
console.log(JSON.stringify(report))
process.exit(0)

/** What a server does once, and only then, is not what a reader costs. */
async function warmUp(): Promise<void> {
  const some: LiveReader[] = []
  for (let stream = 0; stream < spec.streams; stream++) {
    const kind = kinds[stream % 2] ?? 'sse'
    some.push(new LiveReader(port, pathOf(stream), kind, 1, () => {}))
  }
  await Promise.all(some.map((reader) => reader.connect()))
  for (let times = 0; times < 10; times++) {
    await Promise.all(
      some.map((_, stream) => {
        next[stream]!++
        return appender.append(pathOf(stream), Buffer.from('warm'))
      }),
    )
  }
  await until(() => some.every((reader, stream) => reader.seq === next[stream]), 'the first readers have all')
  for (const reader of some) reader.close()
  await sleep(3000)
}

async function connectReaders(): Promise<{ readers: LiveReader[]; bytesEach: number; cpuShare: number }> {
  const before = rssBytes(serverPid)
  const readers = Array.from({ length: spec.readers }, (_, index) => {
    const stream = index % spec.streams
    const kind = kinds[Math.floor(index / spec.streams) % 2] ?? 'sse'
    return new LiveReader(port, pathOf(stream), kind, next[stream] ?? 0, onTimedRecord)
  })
  for (let at = 0; at < readers.length; at += 50) {
    await Promise.all(readers.slice(at, at + 50).map((reader) => reader.connect()))
  }
  await sleep(5000)
  const cpuBefore = cpuSeconds(serverPid)
  const from = performance.now()
  await sleep(3000)
  const cpuShare = (cpuSeconds(serverPid) - cpuBefore) / ((performance.now() - from) / 1000)
  return { readers, bytesEach: (rssBytes(serverPid) - before) / readers.length, cpuShare }
}

/** Appends to all streams in turn at the given pace while `during` lasts, and until every reader has them all. */
async function deliver(during: () => Promise<void>): Promise<Delivery> {
  received = []
  const first = sentAt.length
  const acknowledged: Promise<void>[] = []
  let isOver = false
  const from = performance.now()
  const pacer = setInterval(() => {
    const now = performance.now()
    const due = first + Math.floor(((now - from) / 1000) * spec.appendsPerSecond)
    while (!isOver && sentAt.length < due) {
      const append = sentAt.length
      const stream = append % spec.streams
      sentAt.push(now)
      const done = appender.append(pathOf(stream), Buffer.from(`${append} `.padEnd(100, '.')))
      const note = () => {
        acknowledgedAt[append] = performance.now()
      }
      acknowledged.push(done.then(note))
    }
  }, 5)
  await during()
  isOver = true
  clearInterval(pacer)
  await Promise.all(acknowledged)
  const appends = acknowledged.length
  const expected = appends * (spec.readers / spec.streams)
  await until(() => received.length >= expected, `${expected} records are received`)
  assert(received.length === expected, `${received.length} records came of ${expected}`)
  return {
    appends,
    received: received.length,
    fromSent: percentilesOf(received.map(({ append, at }) => at - (sentAt[append] ?? Number.NaN))),
    fromAcknowledged: percentilesOf(received.map(({ append, at }) => at - (acknowledgedAt[append] ?? Number.NaN))),
  }
}

async function oneIsStuck(): Promise<Pick<LiveReport, 'besideStuck' | 'stuckGrowthBytes' | 'stuckReconnects'>> {
  const others = kinds.map((kind) => new LiveReader(port, stuckPath, kind, 1, () => {}))
  await Promise.all(others.map((reader) => reader.connect()))
  let tail = 1
  let mostBytes = 0
  const bulk = async (bytes: number) => {
    const body = Buffer.alloc(bulkRecordBytes, 'x')
    const records = Math.ceil(bytes / bulkRecordBytes)
    const from = performance.now()
    let sent = 0
    const sendOthers = async () => {
      while (sent < records) {
        const due = from + ((sent++ * bulkRecordBytes) / spec.stuckBytesPerSecond) * 1000
        await sleep(Math.max(0, due - performance.now()))
        await bulkAppender.append(stuckPath, body)
        mostBytes = Math.max(mostBytes, rssBytes(serverPid))
      }
    }
    await Promise.all(Array.from({ length: bulkInFlight }, sendOthers))
    tail += records
    console.error(`${bytes} bytes appended in ${((performance.now() - from) / 1000).toFixed(1)} s`)
  }
  await bulk(spec.stuckBytes * 0.75) // fills the caches
  const before = mostBytes

  const stuck = new LiveReader(port, stuckPath, 'sse', tail, () => {})
  await stuck.connect()
  stuck.pause()
  const besideStuck = await deliver(() => bulk(spec.stuckBytes))
  const stuckGrowthBytes = mostBytes - before
  await until(() => others.every(({ seq }) => seq === tail), 'those beside the stuck reader have all')
  assert(tail - stuck.seq > spec.stuckBytes / bulkRecordBytes / 2, 'the stuck reader has not read')
  stuck.resume()
  await until(() => stuck.seq === tail, 'the stuck reader has all when it reads on')
  for (const reader of [...others, stuck]) reader.close()
  return { besideStuck, stuckGrowthBytes, stuckReconnects: stuck.reconnects }
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + deliveryTimeoutMs
  while (!isSo()) {
    assert(performance.now() < deadline, `not in ${deliveryTimeoutMs} ms: ${what}`)
    await sleep(5)
  }
}

function percentilesOf(values: number[]): Percentiles {
  values.sort((a, b) => a - b)
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99), max: values.at(-1) ?? Number.NaN }
}
