import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../../cluster/cluster.ts'
import type { ClusterNode } from '../../cluster/cluster-node.ts'
import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { clientsFor } from './clients.ts'
import { clusterRow, spreadRows } from './cluster-row.ts'
import { durationsMs, longestAppendMs, spreadOf } from './pauses.ts'
import { type DatabaseMeter, databaseCost, describeCost } from './statements.ts'
import { type SteadyLoad, startSteadyLoad } from './steady-load.ts'
import { concurrently, createStreams, ownersOf, streamNames } from './streams.ts'
import { withMeteredCluster } from './with-cluster.ts'

const intervalMs = 100
const pauseGoalMs = 500
/** Before the first transfer, and after the last one. */
const aroundMs = 5000

/** How long writers of streams are kept waiting that are moved from one node to another. */
export async function benchTransfers(settings: RoundSettings): Promise<Row[]> {
  const count = settings.scale < 1 ? 20 : 100
  const ways = [
    { name: `transfer of ${count} streams one after the other`, atOnce: 1 },
    { name: `transfer of ${count} streams at once`, atOnce: count },
  ].filter(({ name }) => settings.isWanted(name))
  if (ways.length === 0) return []
  return withMeteredCluster({ nodes: 2 }, async (cluster, meter) => {
    const rows: Row[] = []
    for (const { name, atOnce } of ways) rows.push(...(await transfer(cluster, meter, { name, count, atOnce })))
    return rows
  })
}

async function transfer(
  cluster: Cluster,
  meter: DatabaseMeter,
  { name, count, atOnce }: { readonly name: string; readonly count: number; readonly atOnce: number },
): Promise<Row[]> {
  console.error(name)
  const prefix = `transfer-${atOnce}`
  // They are spread evenly, so that half of them are where they are to be moved from.
  const names = streamNames(prefix, 2 * count)
  await createStreams(cluster, names, { body: 'first' })
  const [from, to] = cluster.nodes as [ClusterNode, ClusterNode]
  const owners = await ownersOf(from, prefix)
  const moved = names.filter((stream) => owners.get(stream) === from.nodeId).slice(0, count)
  const { writers, close } = clientsFor(cluster, moved)
  const load = startSteadyLoad(writers, intervalMs)
  await sleep(aroundMs)
  const [before, beganAtMs] = [await meter.usage(), performance.now()]
  const times = await moveAll(to, moved, atOnce)
  describeCost(databaseCost(before, await meter.usage()))
  await sleep(aroundMs)
  await load.stop(30_000)
  close()
  if (load.refused.length > 0) throw new Error(`refused: ${load.refused.slice(0, 5).join('; ')}`)
  console.error(`  errors: ${[...load.passing].map(([error, number]) => `${error} ${number}`).join(', ')}`)
  const usual = spreadOf(durationsMs(load.histories, beganAtMs - aroundMs / 2, beganAtMs))
  return [
    ...spreadRows(`${name}, ${moved.length} moved: longest append of each`, 'ms', spreadOf(pausesOf(load, times)), {
      p99: pauseGoalMs,
    }),
    ...spreadRows(`${name}: an append before`, 'ms', usual),
    clusterRow(
      `${name}: until the last is done`,
      'ms',
      Math.max(...[...times.values()].map(({ endedAtMs }) => endedAtMs)) - beganAtMs,
    ),
  ]
}

interface MoveTimes {
  readonly askedAtMs: number
  readonly endedAtMs: number
}

/** A client learns of it only later, so that what is under way a little after it counts as well. */
const learntWithinMs = 2000

function pausesOf({ histories }: SteadyLoad, times: ReadonlyMap<string, MoveTimes>): number[] {
  return histories.map((history) => {
    const { askedAtMs, endedAtMs } = times.get(history.stream) ?? { askedAtMs: 0, endedAtMs: 0 }
    return longestAppendMs(history, askedAtMs, endedAtMs + learntWithinMs) ?? Number.POSITIVE_INFINITY
  })
}

async function moveAll(to: ClusterNode, streams: readonly string[], atOnce: number): Promise<Map<string, MoveTimes>> {
  const times = new Map<string, MoveTimes>()
  await concurrently(streams, atOnce, async (stream) => {
    const askedAtMs = performance.now()
    let transfer = await askAdmin(`${to.adminUrl}/admin/transfer`, { stream: `/${stream}`, toNode: to.nodeId })
    while (transfer.state === 'pending') {
      await sleep(20)
      transfer = await askAdmin(`${to.adminUrl}/admin/transfers/${transfer.transferId}`)
    }
    if (transfer.state !== 'done') throw new Error(`the transfer of ${stream} ended as ${transfer.state}`)
    times.set(stream, { askedAtMs, endedAtMs: performance.now() })
  })
  return times
}

interface AdminTransferView {
  readonly transferId: number | null
  readonly state: string
}

async function askAdmin(url: string, body?: object): Promise<AdminTransferView> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.status !== 200 && answer.status !== 202) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as AdminTransferView
}
