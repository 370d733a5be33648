import { expect, it } from 'vitest'
import { runChaos, runOverlappingChaos } from '../src/cluster/chaos.ts'
import { faultKinds } from '../src/cluster/chaos-faults.ts'
import { type Cluster, startCluster } from '../src/cluster/cluster.ts'
import { type ClusterLoad, startClusterLoad, type WrittenLog } from '../src/cluster/cluster-load.ts'
import { isReady } from '../src/cluster/cluster-node.ts'
import { differencesOf, readOverHttp, readOverKafka } from '../src/cluster/read-cluster.ts'
import { Seeded } from '../src/cross/seeded.ts'
import { check } from '../src/durability/checker.ts'
import type { LogRecord } from '../src/durability/history.ts'
import { packingFlags } from '../src/pico.ts'
import { javaTools, missing } from '../src/toolchain.ts'

const java = !(await missing(javaTools))
const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)
const seed = number('E2E_CHAOS_SEED', Date.now() % 2 ** 31)
const nodeCount = number('E2E_CHAOS_NODES', 3)
const everyMs = number('E2E_CHAOS_EVERY_SECONDS', 9) * 1000
const seconds = number('E2E_CHAOS_SECONDS', (faultKinds.length * everyMs) / 1000)
const nodeTtlMs = number('E2E_CHAOS_NODE_TTL_MS', 3000)
const s3FaultMs = 5000
const overlapping = process.env['E2E_CHAOS_OVERLAP'] === '1'
/** Twice what is promised for 1,000 active streams; with no database, or no store, as long as their own deadlines last. */
const leaveMs = overlapping ? 90_000 : 20_000

/** How long it may take until clients that backed off are served again. */
const patienceMs = 60_000

const startedMs = performance.now()
const say = (what: string) => console.log(`${((performance.now() - startedMs) / 1000).toFixed(1)} s: ${what}`)

it(`${nodeCount} nodes keep every promise through faults for ${seconds} s`, async () => {
  console.log(`E2E_CHAOS_SEED=${seed}`)
  const random = new Seeded(seed)
  const cluster = await startCluster({
    ...{ nodes: nodeCount, nodeTtlMs, heartbeatMs: nodeTtlMs / 4 },
    flags: [
      ...packingFlags,
      ...['--kafka-max-partitions', '8', '--kafka-group-initial-rebalance-delay-ms', '0'],
      ...['--maintenance-interval-ms', '2000', '--long-poll-timeout-sec', '2'],
    ],
  })
  let load: ClusterLoad | undefined
  let keepLogs = true
  try {
    // A stopped node does what it has received when it goes on; a request waits for a database or a store for as long as these fail.
    const lostForMs = nodeTtlMs + 5000
    load = await startClusterLoad({ cluster, random: random.fork(), java, smallTopics: 6, pauseMs: 40, lostForMs })
    const streams = [...load.logs.map(streamOf), ...load.groupIds.map((groupId) => `/_sys/groups/${groupId}`)]
    const count = Math.ceil((seconds * 1000) / everyMs)
    say('the load runs')
    await (overlapping ? runOverlappingChaos : runChaos)({
      cluster,
      random: random.fork(),
      nodeTtlMs,
      leaveMs,
      s3FaultMs,
      streams,
      everyMs,
      count,
    })
    await judge(cluster, load)
    keepLogs = process.env['E2E_CHAOS_KEEP_LOGS'] === '1'
  } finally {
    if (keepLogs) console.log(`E2E_CHAOS_SEED=${seed}; all logs are in ${cluster.folder}\n${cluster.logs()}`)
    await load?.abandon()
    await cluster.close({ keepLogs })
  }
}, 900_000)

function streamOf({ topic, partition }: WrittenLog): string {
  return partition === 0 ? `/${topic}` : `/_streams/${topic}/${partition}`
}

async function judge(cluster: Cluster, load: ClusterLoad): Promise<void> {
  const { nodes } = cluster
  const healedMs = performance.now()
  say('everything runs again')
  const unready = async () => {
    const areReady = await Promise.all(nodes.map(isReady))
    return nodes.filter((_, at) => areReady[at] !== true).map(({ nodeId }) => nodeId)
  }
  await expect.poll(unready, { timeout: patienceMs, interval: 500 }).toEqual([])
  await expect.poll(() => load.silentSince(healedMs), { timeout: patienceMs, interval: 500 }).toEqual([])
  say('everybody is acknowledged again')
  await load.finish(patienceMs)
  say(
    `${load.acknowledgedRecords()} records acknowledged, ${load.processedRecords()} processed by groups; ${load.lives()} lives of streams`,
  )
  console.log(`longest without an acknowledgement: ${load.longestSilences(5).join(', ')}`)
  console.log(`retried: ${load.retriedErrors().join(', ')}`)

  expect(load.refusals().slice(0, 20), 'refusals that no client retries').toEqual([])
  const logs = await readOverKafka(nodes[0]!, load.logs)
  expect(check(load.history(), logs).slice(0, 20), 'broken promises').toEqual([])
  expect(load.groupBreaches().slice(0, 20), 'broken promises to groups').toEqual([])
  const changes = (how: string, again: ReadonlyMap<string, readonly LogRecord[]>) =>
    [...again].flatMap(([name, log]) => differencesOf(`${name} ${how}`, log, logs.get(name) ?? []))
  expect(changes('over HTTP', await readOverHttp(nodes[0]!, load.logs))).toEqual([])
  say('read over Kafka and over HTTP')

  // By one node after the other, alone: so that it has everything, and nothing of it in memory. Kafka and HTTP take turns.
  for (const node of nodes) await node.terminate()
  for (const [at, node] of nodes.entries()) {
    await node.start()
    const again = await (at % 2 === 0 ? readOverKafka : readOverHttp)(node, load.logs)
    expect(changes(`by node ${node.nodeId} alone`, again)).toEqual([])
    await node.terminate()
    say(`read by node ${node.nodeId} alone`)
  }
  await cluster.verify()
  say('verified')
  expect(load.acknowledgedRecords()).toBeGreaterThan(1000)
  expect(load.lives()).toBeGreaterThan(4)
}
