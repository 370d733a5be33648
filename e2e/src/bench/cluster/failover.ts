import { setTimeout as sleep } from 'node:timers/promises'
import { Seeded } from '../../cross/seeded.ts'
import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { clientsFor } from './clients.ts'
import { clusterRow, spreadRows } from './cluster-row.ts'
import { longestAppendMs, resumedAfterMs, spreadOf } from './pauses.ts'
import { startSteadyLoad } from './steady-load.ts'
import { createStreams, ownersOf, streamNames } from './streams.ts'
import { withCluster } from './with-cluster.ts'

interface FailoverCase {
  readonly name: string
  readonly nodes: number
  readonly streams: number
  readonly written: number
  readonly intervalMs: number
  readonly heartbeatMs: number
  readonly nodeTtlMs: number
}

/** The defaults of `pico serve`, and shorter ones. */
const usual = { heartbeatMs: 2500, nodeTtlMs: 10_000 }
const short = { heartbeatMs: 1000, nodeTtlMs: 4000 }
/** What a failover may take past the time to live of a node. */
const marginMs = 3000
const warmupMs = 8000
/** Less than any time to live without a heartbeat. */
const lastWordsMs = 1000

function casesOf(isQuick: boolean): FailoverCase[] {
  const few = { nodes: 3, streams: isQuick ? 200 : 1000, written: isQuick ? 50 : 200, intervalMs: 500 }
  const many = { nodes: 2, streams: isQuick ? 1000 : 20_000, written: isQuick ? 50 : 200, intervalMs: 500 }
  const all = { nodes: 2, streams: isQuick ? 200 : 1000, written: isQuick ? 200 : 1000, intervalMs: 2000 }
  return [
    { ...few, ...short },
    ...(isQuick ? [] : [{ ...few, ...usual }]),
    { ...all, ...short },
    { ...many, ...short },
    ...(isQuick ? [] : [{ ...many, ...usual }]),
  ].map((each) => ({
    ...each,
    name: `failover of ${each.nodes} nodes with ${each.streams} streams, ${each.written} written, TTL ${each.nodeTtlMs / 1000} s`,
  }))
}

/** A node is killed; of every stream that it had, the time until the next append is acknowledged. */
export async function benchFailover(settings: RoundSettings): Promise<Row[]> {
  const rows: Row[] = []
  for (const each of casesOf(settings.scale < 1)) {
    if (settings.isWanted(each.name)) rows.push(...(await failOver(each)))
  }
  return rows
}

async function failOver(wanted: FailoverCase): Promise<Row[]> {
  const { name, nodeTtlMs } = wanted
  console.error(name)
  return withCluster(wanted, async (cluster) => {
    const names = streamNames('failover', wanted.streams)
    await createStreams(cluster, names, { body: 'first' })
    // At random, or it would go with the turns in which streams are placed.
    const written = new Seeded(1).shuffled(names).slice(0, wanted.written)
    const { writers, close } = clientsFor(cluster, written)
    const load = startSteadyLoad(writers, wanted.intervalMs)
    await sleep(warmupMs)
    // The first node has made the tables, and leads: who is killed is the one that has to be replaced in that, too.
    const [victim, witness] = [cluster.nodes[0]!, cluster.nodes[1]!]
    const owners = await ownersOf(witness, 'failover-')
    const killedAtMs = performance.now()
    await victim.kill()
    await sleep(nodeTtlMs + 3 * marginMs)
    const endMs = performance.now()
    await load.stop(30_000)
    close()
    if (load.refused.length > 0) throw new Error(`refused: ${load.refused.slice(0, 5).join('; ')}`)

    const isMoved = (stream: string) => owners.get(stream) === victim.nodeId
    const moved = load.histories.filter(({ stream }) => isMoved(stream))
    const others = load.histories.filter(({ stream }) => !isMoved(stream))
    const resumed = moved.map((history) => resumedAfterMs(history, killedAtMs, lastWordsMs) ?? Number.POSITIVE_INFINITY)
    console.error(`  ${moved.length} of ${written.length} written streams were on the killed node`)
    console.error(`  errors: ${[...load.passing].map(([error, count]) => `${error} ${count}`).join(', ')}`)
    const longest = others.flatMap((history) => longestAppendMs(history, killedAtMs, endMs) ?? [])
    return [
      ...spreadRows(name, 'ms', spreadOf(resumed), { p99: nodeTtlMs + marginMs }),
      clusterRow(`${name}, longest append to another node`, 'ms', spreadOf(longest).max),
    ]
  })
}
