import { fileURLToPath } from 'node:url'
import { run } from '../../child-process.ts'
import type { Metered } from '../meter.ts'

/** What the load program is asked for, as JSON in its argument. */
export type GroupLoadSpec = HeartbeatLoad | RebalanceLoad | CommitLoad

interface GroupLoad {
  readonly port: number
  /** Whose processor time is told beside the load's own. */
  readonly serverPid: number
  /** Begins the ids of the groups, so that no round meets those of another. */
  readonly prefix: string
}

/** Stable groups whose members do nothing but heartbeat, evenly over time. */
export interface HeartbeatLoad extends GroupLoad {
  readonly kind: 'heartbeats'
  readonly groups: number
  readonly membersPerGroup: number
  /** Members share these in turn: a heartbeat names its member, whatever connection it comes over. */
  readonly connections: number
  readonly intervalMs: number
  readonly measuredMs: number
}

/** One more member joins a stable group, whose members find out by their heartbeats. Each has its own connection. */
export interface RebalanceLoad extends GroupLoad {
  readonly kind: 'rebalance'
  /** With the one that joins last. */
  readonly members: number
  readonly intervalMs: number
}

/** Members of stable groups commit offsets as fast as each is answered, over a connection each. */
export interface CommitLoad extends GroupLoad {
  readonly kind: 'commits'
  readonly groups: number
  /** One for each member: it commits partition 0. Members are spread over the groups in turn. */
  readonly topics: readonly string[]
  readonly warmupMs: number
  readonly measuredMs: number
}

export interface RebalanceReport {
  /** From the JoinGroup of the member that joins last, until all members have their SyncGroup answer. */
  readonly seconds: number
  /** The same from the moment when the last member that was told of it has sent its JoinGroup: what the broker takes. */
  readonly brokerSeconds: number
}

export const runHeartbeats = (load: HeartbeatLoad) => runLoad<Metered>(load, load.measuredMs)
export const runRebalance = (load: RebalanceLoad) => runLoad<RebalanceReport>(load, 0)
export const runCommits = (load: CommitLoad) => runLoad<Metered>(load, load.warmupMs + load.measuredMs)

const program = fileURLToPath(new URL('load-program.ts', import.meta.url))
const preparationMs = 300_000

/** In a process of its own, so that what it costs is seen and nothing of ours delays it. */
async function runLoad<Report>(load: GroupLoadSpec, ms: number): Promise<Report> {
  const { stdout } = await run(process.execPath, ['--conditions=@pico/source', program, JSON.stringify(load)], {
    timeoutMs: ms + preparationMs,
  })
  return JSON.parse(stdout.toString())
}
