/**
 * How many one-record appends a second one process takes, in memory and with a local WAL on disk:
 * `node --conditions=@pico/source test/append-records-bench.ts [seconds] [folder]`. In flight at once: 1, 32, 256.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock, openLog, type WalComponents } from '@pico/log'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import { openMemoryStore } from '@pico/storage/memory'
import { type AppendTerms, openStreams, type PathStream, recordBatchEntries } from '../src/index.ts'

const seconds = Number(process.argv[2] ?? 3)
const folder = process.argv[3] ?? (await mkdtemp(join(tmpdir(), 'pico-bench-')))
const value = Buffer.alloc(1024, 'x')

async function openPath(store: ObjectStore & SegmentStore): Promise<{ stream: PathStream; close(): Promise<void> }> {
  const metadata = await openSqliteMetadata({ path: ':memory:' })
  const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, clock.nowMs())
  const wal: WalComponents = { kind: 'local', store }
  const log = await openLog({ store, wal, metadata, node, clock, format: recordBatchEntries })
  const streams = await openStreams({ log, metadata, node, clusterId: await metadata.nodes.clusterId(), clock })
  const name = '/bench'
  const expiry = { kind: 'never' } as const
  await streams.paths.create({
    name,
    contentType: 'text/plain',
    config: {},
    expiry,
    closed: false,
    records: [],
    matches: () => false,
  })
  const stream = await streams.paths.open(name)
  if (typeof stream === 'string' || 'kind' in stream) throw new Error('no stream')
  const close = async () => {
    await streams.close()
    await log.close()
    await metadata.close()
  }
  return { stream, close }
}

async function measure(stream: PathStream, inFlight: number, termsOf: (n: number) => AppendTerms): Promise<string> {
  const latencies: number[] = []
  let appends = 0
  const cpuBefore = process.cpuUsage()
  const endMs = performance.now() + seconds * 1000
  const worker = async () => {
    while (performance.now() < endMs) {
      const beganMs = performance.now()
      const outcome = stream.appendRecords([{ value }], termsOf(appends++))
      if (outcome.kind !== 'appended') throw new Error(JSON.stringify(outcome))
      await outcome.committed
      latencies.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  latencies.sort((a, b) => a - b)
  const cpu = process.cpuUsage(cpuBefore)
  const cpuUs = ((cpu.user + cpu.system) / latencies.length).toFixed(1)
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2)
  return `${Math.round(latencies.length / seconds)} appends/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${cpuUs} µs of CPU each`
}

for (const [where, store] of [
  ['memory', openMemoryStore()],
  ['disk', await openFileStore(folder)],
] as const) {
  const { stream, close } = await openPath(store)
  let sequence = 0
  const plain = () => ({})
  const producer = () => ({ producer: { id: 'p', epoch: 0, sequence: sequence++, counts: 'records' as const } })
  for (const [kind, termsOf] of [
    ['plain', plain],
    ['producer', producer],
  ] as const) {
    for (const inFlight of [1, 32, 256]) {
      console.log(`${where}, ${kind}, ${inFlight} in flight: ${await measure(stream, inFlight, termsOf)}`)
    }
  }
  await close()
}
if (process.argv[3] === undefined) await rm(folder, { recursive: true })
