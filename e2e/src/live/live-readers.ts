import { fileURLToPath } from 'node:url'
import { run } from '../child-process.ts'
import { startPico } from '../pico.ts'
import type { LiveReport, LiveSpec } from './live-spec.ts'

const mebibyte = 1024 * 1024
const program = fileURLToPath(new URL('live-program.ts', import.meta.url))

/** What must be shown: 2,000 readers on 100 streams, 100 appends a second; and 64 MiB past a reader that is stuck. */
export const fullLiveLoad = {
  streams: 100,
  readers: 2000,
  appendsPerSecond: 100,
  seconds: 20,
  stuckBytes: 64 * mebibyte,
  stuckBytesPerSecond: 8 * mebibyte,
} as const satisfies Partial<LiveSpec>

/**
 * A pico whose caches are small, so that what it holds for a stuck reader is not lost among what it caches, and readers in
 * a process of their own. Rejects when a reader missed a record or was given one twice or too late.
 */
export async function measureLiveReaders(
  load: Omit<LiveSpec, 'port' | 'serverPid'>,
  nodeFlags: readonly string[] = [],
): Promise<LiveReport> {
  const flags = [
    ...['--wal-cache-size', '32MiB'],
    ...['--block-cache-size', '8MiB'],
    ...['--wal-upload-threshold', '16MiB'],
    ...['--sse-max-duration-sec', '600'],
  ]
  const pico = await startPico({ flags, nodeFlags })
  try {
    const port = Number(new URL(pico.httpUrl).port)
    const spec: LiveSpec = { ...load, port, serverPid: pico.process.pid }
    const { stdout } = await run(process.execPath, ['--conditions=@pico/source', program, JSON.stringify(spec)], {
      timeoutMs: 300_000,
    })
    return JSON.parse(stdout.toString())
  } finally {
    await pico.close()
  }
}

export function describeLiveReport(report: LiveReport): string {
  const { idleReaderBytes, delivery, besideStuck, stuckGrowthBytes, stuckReconnects } = report
  const delay = ({ fromSent, fromAcknowledged, received }: typeof delivery) =>
    `${received} records received, p50 ${fromSent.p50.toFixed(1)} ms, p99 ${fromSent.p99.toFixed(1)} ms after they were sent, ` +
    `p99 ${fromAcknowledged.p99.toFixed(1)} ms after they were acknowledged, at most ${fromSent.max.toFixed(0)} ms`
  return (
    `an idle reader ${(idleReaderBytes / 1024).toFixed(1)} KiB; ${delay(delivery)}; ` +
    `while one is stuck: ${delay(besideStuck)}, ${(stuckGrowthBytes / mebibyte).toFixed(0)} MiB more memory, ` +
    `${stuckReconnects} reconnects; server ${(100 * report.serverCpuShare).toFixed(0)} % of a core, ` +
    `load ${(100 * report.loadCpuShare).toFixed(0)} %`
  )
}
