// Appends at full speed over a folder: what the engine itself reaches, with no protocol before it.
// Usage: node bench/append.ts [entryBytes=65536] [inFlight=5] [seconds=5] [kind=local]
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import { openFileStore } from '@pico/storage/file'
import { openLog, systemClock } from '../src/index.ts'
import { entry, stamp, testFormat } from '../test/test-entries.ts'

const [entryBytes = 65536, inFlight = 5, seconds = 5] = process.argv.slice(2, 5).map(Number)
const kind = process.argv[5] ?? 'local'
const folder = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'pico-log-'))
const store = await openFileStore(join(folder, 'objects'))
const metadata = await openSqliteMetadata({ path: join(folder, 'meta.db') })
const node = await metadata.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, Date.now())
const log = await openLog(
  {
    store,
    wal: kind === 'local' ? { kind: 'local', store } : { kind: 'shared', store },
    metadata,
    node,
    clock: systemClock,
    format: testFormat,
    onProblem: console.error,
  },
  kind === 'local' ? {} : { flushesInFlightMax: 1 },
)
const [row] = await metadata.streams.create(
  [{ name: '/bench', topic: 'bench', partition: 0, topicId: randomUUID(), contentType: '', config: {} }],
  Date.now(),
)
const [stream] = await log.open([row!.streamId], () => ({ committed() {}, rolledBack() {} }))
const payload = entry(1, { payloadBytes: entryBytes - 28, timestampMs: 1 })
let count = 0
const latencies: number[] = []
const startMs = performance.now()
const until = startMs + seconds * 1000
await Promise.all(
  Array.from({ length: inFlight }, async () => {
    while (performance.now() < until) {
      const at = performance.now()
      const appended = stream!.append(payload)
      stamp(appended.bytes, appended.baseOffset)
      await appended.committed
      latencies.push(performance.now() - at)
      count += 1
    }
  }),
)
const tookS = (performance.now() - startMs) / 1000
latencies.sort((a, b) => a - b)
const p = (q: number) => latencies[Math.floor(latencies.length * q)]?.toFixed(2)
const cpu = process.cpuUsage()
console.log(
  `${kind} ${entryBytes} B x ${inFlight}: ${((count * entryBytes) / 1e6 / tookS).toFixed(1)} MB/s, ${(count / tookS).toFixed(0)}/s, p50 ${p(0.5)} p99 ${p(0.99)} p99.9 ${p(0.999)} ms, flushes ${log.stats.flushes}, packs ${log.stats.packs}, cpu ${((cpu.user + cpu.system) / 1e6 / tookS).toFixed(2)} cores, rss ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
)
await log.close()
await metadata.close()
await store.close()
rmSync(folder, { recursive: true })
