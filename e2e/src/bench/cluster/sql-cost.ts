import { setTimeout as sleep } from 'node:timers/promises'
import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { clientsFor } from './clients.ts'
import { clusterRow } from './cluster-row.ts'
import { metricSum } from './node-metrics.ts'
import { type DatabaseCost, databaseCost, describeCost } from './statements.ts'
import { startSteadyLoad } from './steady-load.ts'
import { createStreams, streamNames } from './streams.ts'
import { withMeteredCluster } from './with-cluster.ts'

const appendsPerSecond = 250
const flatWithin = 1.2
const cpuGoalPercent = 2
const warmupMs = 10_000

/**
 * What one node asks of Postgres at the same rate of appends to few streams and to many, each of which is written to again before it
 * is forgotten: a flush is one commit, whoever is in it.
 */
export async function benchSqlCost(settings: RoundSettings): Promise<Row[]> {
  const isQuick = settings.scale < 1
  const counts = isQuick ? [10, 200] : [10, 1000, 10_000]
  // A pack comes once a minute.
  const measuredMs = isQuick ? 15_000 : 60_000
  const base = `SQL at ${appendsPerSecond} appends/s`
  if (!settings.isWanted(base)) return []
  const rows: Row[] = []
  const rates: number[] = []
  for (const count of counts) {
    const name = `${base} to ${count} streams`
    console.error(name)
    const { cost, flushesPerSecond, appendedPerSecond } = await costOf(count, measuredMs)
    rates.push(cost.statementsPerSecond)
    describeCost(cost)
    const flat = count === counts[0] ? undefined : flatWithin * (rates[0] ?? 0)
    rows.push(
      clusterRow(`${name}: statements`, '/s', cost.statementsPerSecond, flat),
      clusterRow(`${name}: processor of Postgres`, '% core', 100 * cost.cpuShare, cpuGoalPercent),
      clusterRow(`${name}: flushes`, '/s', flushesPerSecond),
      clusterRow(`${name}: appends`, '/s', appendedPerSecond),
    )
  }
  return rows
}

async function costOf(
  count: number,
  measuredMs: number,
): Promise<{ cost: DatabaseCost; flushesPerSecond: number; appendedPerSecond: number }> {
  return withMeteredCluster({ nodes: 1 }, async (cluster, meter) => {
    const names = streamNames('cost', count)
    await createStreams(cluster, names, { body: 'first' })
    // What making them leaves to do is no cost of writing to them.
    await meter.tidy()
    const { writers, close } = clientsFor(cluster, writersOf(names))
    const intervalMs = (1000 * writers.length) / appendsPerSecond
    const load = startSteadyLoad(writers, intervalMs)
    await sleep(Math.max(warmupMs, intervalMs))
    const flushes = () => metricSum(cluster.nodes, 'pico_log_flushes_total')
    const appended = () => load.histories.reduce((sum, { appends }) => sum + appends.length, 0)
    const [before, flushesBefore, appendedBefore] = [await meter.usage(), await flushes(), appended()]
    await sleep(measuredMs)
    const cost = databaseCost(before, await meter.usage())
    const flushesPerSecond = ((await flushes()) - flushesBefore) / cost.seconds
    const appendedPerSecond = (appended() - appendedBefore) / cost.seconds
    await load.stop(30_000)
    close()
    return { cost, flushesPerSecond, appendedPerSecond }
  })
}

/** Fewer streams than it takes to reach the rate, an append at a time to each, get several writers. */
function writersOf(names: readonly string[]): string[] {
  const writersMin = 200
  return Array.from({ length: Math.max(1, Math.ceil(writersMin / names.length)) }, () => names).flat()
}
