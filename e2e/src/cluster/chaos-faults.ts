import { setTimeout as sleep } from 'node:timers/promises'
import type { Seeded } from '../cross/seeded.ts'
import type { Cluster } from './cluster.ts'
import { type ClusterNode, nodeEpochOf } from './cluster-node.ts'
import type { S3Fault } from './s3-fault-proxy.ts'

export interface FaultSettings {
  readonly cluster: Cluster
  readonly random: Seeded
  /** A node that is silent for so long is fenced by others, and has to know that itself. */
  readonly nodeTtlMs: number
  /** How long S3 fails. */
  readonly s3FaultMs: number
  /** Streams that may be moved. */
  readonly streams: readonly string[]
}

/** Does its harm and mends it. Resolves, with what it did, when everything runs again. */
export type Fault = (settings: FaultSettings) => Promise<string>

export const faults = {
  async 'kill -9'({ cluster, random }) {
    const node = oneOf(cluster, random)
    const downMs = random.whole(0, 2000)
    await node.kill()
    await sleep(downMs)
    return `node ${node.nodeId}, for ${downMs} ms, ready ${await timed(() => node.start())} later`
  },

  async SIGTERM({ cluster, random }) {
    const node = oneOf(cluster, random)
    const left = await timed(() => node.terminate())
    return `node ${node.nodeId}, which took ${left}, ready ${await timed(() => node.start())} later`
  },

  /** Past the TTL, and back: it must find out that it is fenced before it does or says anything. */
  async SIGSTOP({ cluster, random, nodeTtlMs }) {
    const node = oneOf(cluster, random)
    let before = 0
    await until(node, async () => {
      before = (await nodeEpochOf(node)) ?? 0
      return before > 0
    })
    const stoppedMs = nodeTtlMs + random.whole(500, 2500)
    node.pause()
    await sleep(stoppedMs)
    node.resume()
    const what = `node ${node.nodeId}, for ${stoppedMs} ms`
    if (cluster.nodes.length === 1) return what
    return `${what}, at a new epoch ${await timed(() => until(node, async () => ((await nodeEpochOf(node)) ?? 0) > before))} later`
  },

  async 'Postgres restarts'({ cluster, random }) {
    const downMs = random.whole(0, 1500)
    await cluster.postgres.restart('stop', downMs)
    return `after ${downMs} ms`
  },

  async 'Postgres crashes'({ cluster, random }) {
    const downMs = random.whole(0, 1500)
    await cluster.postgres.restart('kill', downMs)
    return `back after ${downMs} ms`
  },

  async 'S3 stalls'({ cluster, s3FaultMs }) {
    return withFault(cluster, 'stall', s3FaultMs)
  },

  async 'S3 fails'({ cluster, random, s3FaultMs }) {
    return withFault(cluster, random.one(['slow-down', 'error', 'reset', 'lose-answer', 'cut']), s3FaultMs)
  },
} satisfies Record<string, Fault>

export type FaultKind = keyof typeof faults
export const faultKinds = Object.keys(faults) as FaultKind[]

async function withFault({ s3 }: Cluster, fault: S3Fault, ms: number): Promise<string> {
  s3.fault = fault
  await sleep(ms)
  s3.fault = null
  return `${fault} for ${ms} ms`
}

function oneOf({ nodes }: Cluster, random: Seeded): ClusterNode {
  const node = nodes[random.whole(0, nodes.length - 1)]
  if (node === undefined) throw new Error('a cluster without nodes')
  return node
}

/** How long a node may take to find its place again. */
const patienceMs = 20_000

async function until(node: ClusterNode, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await isSo())) {
    if (Date.now() > deadline)
      throw new Error(`node ${node.nodeId} does not say its epoch, or a new one, for ${patienceMs} ms`)
    await sleep(100)
  }
}

async function timed(work: () => Promise<void>): Promise<string> {
  const fromMs = performance.now()
  await work()
  return `${((performance.now() - fromMs) / 1000).toFixed(1)} s`
}
