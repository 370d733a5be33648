import { setTimeout as sleep } from 'node:timers/promises'
import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { clientsFor } from './clients.ts'
import { clusterRow, spreadRows } from './cluster-row.ts'
import { longestAppendMs, spreadOf } from './pauses.ts'
import { startSteadyLoad } from './steady-load.ts'
import { createStreams, ownersOf, streamNames } from './streams.ts'
import { withCluster } from './with-cluster.ts'

const exitGoalMs = 10_000
const intervalMs = 2000
const aroundMs = 8000

/** A node takes leave while its streams are written to. */
export async function benchSigterm(settings: RoundSettings): Promise<Row[]> {
  const count = settings.scale < 1 ? 100 : 1000
  const name = `SIGTERM to one of two nodes with ${count} active streams`
  if (!settings.isWanted(name)) return []
  console.error(name)
  return withCluster({ nodes: 2 }, async (cluster) => {
    const names = streamNames('leave', count)
    await createStreams(cluster, names, { body: 'first' })
    const { writers, close } = clientsFor(cluster, names)
    const load = startSteadyLoad(writers, intervalMs)
    await sleep(aroundMs)
    const [leaving, staying] = [cluster.nodes[0]!, cluster.nodes[1]!]
    const owners = await ownersOf(staying, 'leave-')
    const passingBefore = new Map(load.passing)
    const toldAtMs = performance.now()
    await leaving.terminate(60_000)
    const exitMs = performance.now() - toldAtMs
    await sleep(aroundMs)
    const endMs = performance.now()
    await load.stop(30_000)
    close()
    const moved = load.histories.filter(({ stream }) => owners.get(stream) === leaving.nodeId)
    const pauses = moved.map((history) => longestAppendMs(history, toldAtMs, endMs) ?? Number.POSITIVE_INFINITY)
    for (const [error, times] of load.passing) {
      console.error(`  ${error}: ${times - (passingBefore.get(error) ?? 0)} times`)
    }
    for (const refusal of load.refused.slice(0, 10)) console.error(`  refused: ${refusal}`)
    return [
      clusterRow(`${name}: until it has ended`, 'ms', exitMs, exitGoalMs),
      clusterRow(`${name}: errors that are not retriable`, 'errors', load.refused.length, 0),
      ...spreadRows(`${name}, ${moved.length} moved: longest append of each`, 'ms', spreadOf(pauses)),
    ]
  })
}
