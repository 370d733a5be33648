import { setTimeout as sleep } from 'node:timers/promises'
import { Seeded } from '../../cross/seeded.ts'
import { peakRssBytes, rssBytes } from '../../process-usage.ts'
import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { clusterRow, spreadRows } from './cluster-row.ts'
import { spreadOf } from './pauses.ts'
import { databaseCost, describeCost } from './statements.ts'
import { createStreams, streamNames } from './streams.ts'
import { withMeteredCluster } from './with-cluster.ts'

const createGoalSeconds = 600
const memoryGoalMegabytes = 500
const pageGoalMs = 100
const restartGoalMs = 5000
const pages = 200
const settleMs = 5000
const bytesPerMegabyte = 1024 * 1024

/** Many streams with one record each on two nodes: making, listing and restarting. */
export async function benchScale(settings: RoundSettings): Promise<Row[]> {
  const count = settings.scale < 1 ? 2000 : 100_000
  const name = `${count} streams of one record on two nodes`
  if (!settings.isWanted(name)) return []
  console.error(name)
  return withMeteredCluster({ nodes: 2 }, async (cluster, meter) => {
    const rows: Row[] = []
    const names = streamNames('scale', count)
    const [before, beganAtMs] = [await meter.usage(), performance.now()]
    await createStreams(cluster, names, { body: 'the only record', connections: 256 })
    rows.push(clusterRow(`${name}: made over HTTP`, 's', (performance.now() - beganAtMs) / 1000, createGoalSeconds))
    describeCost(databaseCost(before, await meter.usage()))
    await sleep(settleMs)
    const megabytes = (of: (pid: number) => number) =>
      Math.max(...cluster.nodes.map(({ process }) => of(process.pid) / bytesPerMegabyte))
    rows.push(clusterRow(`${name}: memory of a node`, 'MB', megabytes(rssBytes), memoryGoalMegabytes))
    rows.push(clusterRow(`${name}: most memory a node ever had`, 'MB', megabytes(peakRssBytes)))

    const node = cluster.nodes[0]!
    const random = new Seeded(1)
    const somewhere = () => encodeURIComponent(`/${names[random.whole(0, count - 1)]}`)
    for (const [what, target] of [
      ['a page of 100 over HTTP', () => `${node.httpUrl}/?limit=100&start_after=${somewhere()}`],
      ['a page of 1000 over HTTP', () => `${node.httpUrl}/?limit=1000&start_after=${somewhere()}`],
      ['a page of 100 of the admin API', () => `${node.adminUrl}/admin/streams?limit=100&start_after=${somewhere()}`],
      ['/admin/cluster', () => `${node.adminUrl}/admin/cluster`],
    ] as const) {
      rows.push(...spreadRows(`${name}: ${what}`, 'ms', spreadOf(await timesOf(target)), { p99: pageGoalMs }))
    }

    for (const how of ['terminate', 'kill'] as const) {
      const endedAtMs = performance.now()
      await node[how](60_000)
      const endMs = performance.now() - endedAtMs
      if (how === 'terminate') rows.push(clusterRow(`${name}: SIGTERM until it has ended`, 'ms', endMs, 10_000))
      const startedAtMs = performance.now()
      await node.start()
      rows.push(clusterRow(`${name}: ready after ${how}`, 'ms', performance.now() - startedAtMs, restartGoalMs))
    }
    return rows
  })
}

async function timesOf(target: () => string): Promise<number[]> {
  const times: number[] = []
  for (let page = 0; page < pages; page++) {
    const askedAtMs = performance.now()
    const answer = await fetch(target())
    const body = await answer.text()
    if (answer.status !== 200) throw new Error(`${answer.url}: ${answer.status} ${body}`)
    times.push(performance.now() - askedAtMs)
  }
  return times
}
