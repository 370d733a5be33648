import { setTimeout as sleep } from 'node:timers/promises'
import type { S3Request } from '../../cluster/s3-fault-proxy.ts'
import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { clusterRow } from './cluster-row.ts'
import { httpClient } from './http-client.ts'
import { metricSum } from './node-metrics.ts'
import { concurrently, createStreams, streamNames } from './streams.ts'
import { withCluster } from './with-cluster.ts'

const bytesPerGiB = 1024 ** 3
const packedBytes = 32 * 1024 ** 2
const recordBytes = 64 * 1024
const streams = 16
const atOnce = 64
/** For what is due at intervals at its defaults: packs, and deletions after their grace. */
const packIntervalMs = 60_000

/** What S3 is asked for while so much is appended, and until it is packed. */
export async function benchS3Cost(settings: RoundSettings): Promise<Row[]> {
  const bytes = settings.scale * bytesPerGiB
  const name = `S3 requests for ${bytes / bytesPerGiB} GiB in appends of 64 KiB`
  if (!settings.isWanted(name)) return []
  console.error(name)
  return withCluster({ nodes: 1 }, async (cluster) => {
    const names = streamNames('s3', streams)
    await createStreams(cluster, names)
    const client = httpClient(
      cluster.nodes.map(({ httpUrl }) => httpUrl),
      Buffer.alloc(recordBytes, 'x'),
    )
    const from = cluster.s3.requests.length
    const flushesBefore = await metricSum(cluster.nodes, 'pico_log_flushes_total')
    const beganAtMs = performance.now()
    await concurrently(Array.from({ length: bytes / recordBytes }), atOnce, async (_, index) => {
      const outcome = await client.append(names[index % names.length] ?? '')
      if (outcome.kind !== 'acknowledged') throw new Error(outcome.error)
    })
    const seconds = (performance.now() - beganAtMs) / 1000
    const flushes = (await metricSum(cluster.nodes, 'pico_log_flushes_total')) - flushesBefore
    await untilPacked(cluster.nodes)
    client.close()
    const requests = cluster.s3.requests.slice(from)
    for (const [kind, { count, bytes }] of byKind(requests)) {
      console.error(`    ${kind}: ${count} requests, ${(bytes / 1024 ** 2).toFixed(1)} MiB`)
    }
    const puts = (part: string) =>
      requests.filter(({ operation, path }) => operation !== 'get' && isPut(operation) && path.includes(part))
    const packed = puts('/data/')
    const packedTotal = packed.reduce((sum, request) => sum + request.bytes, 0)
    const gets = requests.filter(({ operation }) => operation === 'get').length
    return [
      clusterRow(`${name}: all`, 'requests', requests.length),
      clusterRow(`${name}: GET`, 'requests', gets),
      clusterRow(`${name}: PUT for each flush`, 'requests', puts('/wal/').length / flushes, 1.01),
      clusterRow(
        `${name}: PUT for each 32 MiB packed`,
        'requests',
        packed.length / Math.ceil(packedTotal / packedBytes),
        1,
      ),
      clusterRow(`${name}: flushes`, 'flushes', flushes),
      clusterRow(`${name}: rate`, 'MiB/s', bytes / 1024 ** 2 / seconds),
    ]
  })
}

const isPut = (operation: S3Request['operation']) => operation === 'put' || operation === 'upload-part'

async function untilPacked(nodes: Parameters<typeof metricSum>[0]): Promise<void> {
  const deadline = performance.now() + 3 * packIntervalMs
  while ((await metricSum(nodes, 'pico_log_unpacked_bytes')) > 0) {
    if (performance.now() > deadline) throw new Error('the WAL was not packed in time')
    await sleep(1000)
  }
}

/** By what was asked and what the key began with. */
function byKind(requests: readonly S3Request[]): Map<string, { count: number; bytes: number }> {
  const kinds = new Map<string, { count: number; bytes: number }>()
  for (const { operation, path, bytes } of requests) {
    const part = ['/wal/', '/data/', '/probes/'].find((each) => path.includes(each)) ?? ''
    const kind = `${operation} ${part}`
    const known = kinds.get(kind) ?? { count: 0, bytes: 0 }
    kinds.set(kind, { count: known.count + 1, bytes: known.bytes + bytes })
  }
  return kinds
}
