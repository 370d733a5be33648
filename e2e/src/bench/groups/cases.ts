import { createTopicsOf, deleteTopic } from '../../raw-topics.ts'
import type { Contender } from '../contenders.ts'
import { valuesOf } from '../http/report-rows.ts'
import { settleDisk } from '../machine.ts'
import type { Metered } from '../meter.ts'
import type { Row } from '../report.ts'
import { type RoundSettings, roundsOf } from '../rounds.ts'
import { type RebalanceReport, runCommits, runHeartbeats, runRebalance } from './load.ts'

/** As clients do by default. */
const intervalMs = 3000
const groups = 1000
const membersPerGroup = 3
const heartbeatConnections = 30
const rebalancingMembers = 500
const committers = 50
const microsecondsPerSecond = 1e6

/** What coordinating costs. Groups are not about a topic's settings, so Kafka takes part once. */
export async function benchGroups(contenders: readonly Contender[], settings: RoundSettings): Promise<Row[]> {
  const once = contenders.filter(({ name }) => name !== 'kafka-flush')
  return [
    ...(await benchHeartbeats(once, settings)),
    ...(await benchRebalance(once, settings)),
    ...(await benchCommits(once, settings, 1)),
    ...(await benchCommits(once, settings, committers)),
  ]
}

async function benchHeartbeats(contenders: readonly Contender[], settings: RoundSettings): Promise<Row[]> {
  const name = `heartbeats of ${groups} groups of ${membersPerGroup}, every ${intervalMs / 1000} s over ${heartbeatConnections} connections`
  if (!settings.isWanted(name)) return []
  console.error(name)
  const reports = await roundsOf(contenders, settings, describeMetered, ({ broker }, round) =>
    runHeartbeats({
      kind: 'heartbeats',
      port: broker.port,
      serverPid: broker.process.pid,
      prefix: `beats-${round}-${Date.now()}`,
      groups,
      membersPerGroup,
      connections: heartbeatConnections,
      intervalMs,
      measuredMs: 24_000 * settings.scale,
    }),
  )
  const row = (what: string, unit: string, value: (report: Metered) => number): Row => {
    return { name: `${name}: ${what}`, unit, values: valuesOf(reports, value), goals: [] }
  }
  return [
    row('p50', 'ms', ({ latencyMs }) => latencyMs.p50),
    { ...row('p99', 'ms', ({ latencyMs }) => latencyMs.p99), goals: [{ of: 'pico', atMost: 20 }] },
    row('processor of the server', '% core', ({ serverCpuShare }) => 100 * serverCpuShare),
    row('processor of the load itself', '% core', ({ loadCpuShare }) => 100 * loadCpuShare),
  ]
}

async function benchRebalance(contenders: readonly Contender[], settings: RoundSettings): Promise<Row[]> {
  const name = `a group of ${rebalancingMembers} rebalances`
  if (!settings.isWanted(name)) return []
  console.error(name)
  const describe = ({ seconds, brokerSeconds }: RebalanceReport) =>
    `${seconds.toFixed(2)} s, ${brokerSeconds.toFixed(2)} s of them after the last JoinGroup`
  const reports = await roundsOf(contenders, settings, describe, ({ broker }, round) =>
    runRebalance({
      kind: 'rebalance',
      port: broker.port,
      serverPid: broker.process.pid,
      prefix: `rebalance-${round}-${Date.now()}`,
      members: rebalancingMembers,
      intervalMs,
    }),
  )
  return [
    {
      name: `${name}, told by heartbeats every ${intervalMs / 1000} s: until the last SyncGroup answer`,
      unit: 's',
      values: valuesOf(reports, ({ seconds }) => seconds),
      goals: [{ of: 'pico', atMost: 5 }],
    },
    {
      name: `${name}: from the last JoinGroup to the last SyncGroup answer`,
      unit: 's',
      values: valuesOf(reports, ({ brokerSeconds }) => brokerSeconds),
      goals: [],
    },
  ]
}

/** Pico's are durable when they are answered; Kafka has them in its page cache then. */
async function benchCommits(
  contenders: readonly Contender[],
  settings: RoundSettings,
  committingGroups: number,
): Promise<Row[]> {
  const by = committingGroups === 1 ? 'one group' : `${committingGroups} groups`
  const name = `OffsetCommit over ${committers} connections by ${by} (pico's durable, Kafka's not)`
  if (!settings.isWanted(name)) return []
  console.error(name)
  const reports = await roundsOf(contenders, settings, describeMetered, async ({ broker }, round) => {
    const prefix = `commits-${committingGroups}-${round}-${Date.now()}`
    const topics = Array.from({ length: committers }, (_, index) => `${prefix}-${index}`)
    await createTopicsOf(broker.port, topics)
    await settleDisk()
    const metered = await runCommits({
      kind: 'commits',
      port: broker.port,
      serverPid: broker.process.pid,
      prefix,
      groups: committingGroups,
      topics,
      warmupMs: 4000 * settings.scale,
      measuredMs: 8000 * settings.scale,
    })
    for (const topic of topics) await deleteTopic(broker.port, topic)
    return metered
  })
  const row = (what: string, unit: string, value: (report: Metered) => number): Row => {
    return { name: `${name}${what}`, unit, values: valuesOf(reports, value), goals: [] }
  }
  return [
    row('', 'commits/s', ({ completed, seconds }) => completed / seconds),
    row(', p99', 'ms', ({ latencyMs }) => latencyMs.p99),
    row(', processor time of the server', 'µs/commit', serverMicroseconds),
    row(', processor of the load itself', '% core', ({ loadCpuShare }) => 100 * loadCpuShare),
  ]
}

function serverMicroseconds({ serverCpuShare, seconds, completed }: Metered): number {
  return (serverCpuShare * seconds * microsecondsPerSecond) / completed
}

function describeMetered({ completed, seconds, latencyMs, serverCpuShare, loadCpuShare }: Metered): string {
  return (
    `${(completed / seconds).toFixed(0)}/s, p50 ${latencyMs.p50.toFixed(2)} ms, p99 ${latencyMs.p99.toFixed(2)} ms, ` +
    `server ${(100 * serverCpuShare).toFixed(0)} % of a core, load ${(100 * loadCpuShare).toFixed(0)} %`
  )
}
