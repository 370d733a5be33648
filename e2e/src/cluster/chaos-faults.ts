import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminTransfer } from '@pico/http-contract'
import type { Seeded } from '../cross/seeded.ts'
import type { Cluster } from './cluster.ts'
import { askAdmin, type ClusterNode, nodeEpochOf } from './cluster-node.ts'
import type { S3Fault } from './s3-fault-proxy.ts'

export interface FaultSettings {
  readonly cluster: Cluster
  readonly random: Seeded
  /** A node that is silent for so long is fenced by others, and has to know that itself. */
  readonly nodeTtlMs: number
  /** How long a node may take to end after SIGTERM. */
  readonly leaveMs: number
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

  async SIGTERM({ cluster, random, leaveMs }) {
    const node = oneOf(cluster, random)
    const left = await timed(() => node.terminate(leaveMs))
    return `node ${node.nodeId}, which took ${left}, ready ${await timed(() => node.start())} later`
  },

  /** Past the TTL, and back: it must find out that it is fenced before it does or says anything. */
  async SIGSTOP({ cluster, random, nodeTtlMs }) {
    const node = oneOf(cluster, random)
    let before = 0
    await until(`node ${node.nodeId} does not say its epoch`, async () => {
      before = (await nodeEpochOf(node)) ?? 0
      return before > 0
    })
    const stoppedMs = nodeTtlMs + random.whole(500, 2500)
    node.pause()
    await sleep(stoppedMs)
    node.resume()
    const what = `node ${node.nodeId}, for ${stoppedMs} ms`
    if (cluster.nodes.length === 1) return what
    return `${what}, at a new epoch ${await timed(() => until(`node ${node.nodeId} has no new epoch`, async () => ((await nodeEpochOf(node)) ?? 0) > before))} later`
  },

  /** By the admin API of any node, to any node, a few at a time and over each other's feet. */
  async transfers({ cluster, random, streams }) {
    const counts = { done: 0, failed: 0, refused: 0 }
    const fromMs = performance.now()
    for (let round = 0; round < 3; round++) {
      const moves = random
        .shuffled(streams)
        .slice(0, 6)
        .map((stream) => ({
          ...{ stream, toNode: oneOf(cluster, random).nodeId, by: oneOf(cluster, random) },
        }))
      for (const state of await Promise.all(moves.map(transfer))) counts[state]++
    }
    const rounds = ((performance.now() - fromMs) / 3000).toFixed(1)
    return `${counts.done} done, ${counts.failed} failed, ${counts.refused} refused, each six in ${rounds} s`
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

/** Asks for it and waits for its end. @throws Error when it has none in time */
async function transfer(move: { readonly stream: string; readonly toNode: number; readonly by: ClusterNode }) {
  const { stream, toNode, by } = move
  const asked = await askAdmin(`${by.adminUrl}/admin/transfer`, { stream, toNode })
  if (asked === undefined || !asked.ok) {
    await asked?.body?.cancel()
    return 'refused'
  }
  let now = (await asked.json()) as AdminTransfer
  let isForgotten = false
  const ends = until(`${stream} is on its way to node ${toNode}`, async () => {
    if (now.state !== 'pending' || isForgotten) return true
    const answer = await askAdmin(`${by.adminUrl}/admin/transfers/${now.transferId}`)
    if (answer?.ok === true) now = (await answer.json()) as AdminTransfer
    else await answer?.body?.cancel()
    // With its stream, which was deleted.
    isForgotten = answer?.status === 404
    return false
  })
  await ends.catch(async (error: Error) => {
    const described = await askAdmin(`${by.adminUrl}/admin/streams${stream}`)
    throw new Error(`${error.message}: ${JSON.stringify(now)}, ${await described?.text()}`)
  })
  return now.state === 'done' ? 'done' : 'failed'
}

function oneOf({ nodes }: Cluster, random: Seeded): ClusterNode {
  const node = nodes[random.whole(0, nodes.length - 1)]
  if (node === undefined) throw new Error('a cluster without nodes')
  return node
}

/** How long a node may take to find its place again, or a stream, on a machine that has far too much to do. */
const patienceMs = 60_000

/** @throws Error that says that it is still like `what` */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`${what}, after ${patienceMs} ms`)
    await sleep(100)
  }
}

async function timed(work: () => Promise<void>): Promise<string> {
  const fromMs = performance.now()
  await work()
  return `${((performance.now() - fromMs) / 1000).toFixed(1)} s`
}
