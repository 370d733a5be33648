import { setTimeout as sleep } from 'node:timers/promises'
import { type Log, openLog, systemClock } from '@pico/log'
import { type Metadata, MetadataUnavailableError } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore } from '@pico/storage'
import { openMemoryStore } from '@pico/storage/memory'
import { joinCluster, type Membership, openStreams, recordBatchEntries, type Streams } from '../src/index.ts'

/** Long enough for a machine with other work. */
export const ttlMs = 1500
const heartbeatMs = 100

export interface ClusterNode {
  readonly nodeId: number
  readonly log: Log
  readonly streams: Streams
  readonly membership: Membership
  /** Until `restore` no call to the database is answered: what a dead process, or one that is cut off, looks like to the others. */
  cut(): void
  restore(): void
}

/** Several nodes in one process, on one database and one store, in real time, as it is the database's clock that counts. */
export class TestCluster {
  readonly store: ObjectStore = openMemoryStore()
  readonly metadata: Metadata
  readonly #nodes: ClusterNode[] = []

  private constructor(metadata: Metadata) {
    this.metadata = metadata
  }

  static async open(): Promise<TestCluster> {
    return new TestCluster(await openSqliteMetadata({ path: ':memory:' }))
  }

  async start(nodeId: number, slots = 1): Promise<ClusterNode> {
    const { store } = this
    const connection = cuttable(this.metadata)
    const { metadata } = connection
    const addresses = { http: `http://node-${nodeId}:4437` }
    const node = await metadata.nodes.register({ nodeId, addresses, slots }, Date.now())
    const clock = systemClock
    const membership = await joinCluster({ metadata, node, clock }, { heartbeatMs, ttlMs })
    const log = await openLog(
      {
        ...{ store, metadata, node, clock, wal: { kind: 'shared', store }, format: recordBatchEntries },
        leads: () => membership.leads,
      },
      { maintenanceIntervalMs: 3_600_000, doomedGraceMs: 0, blockCacheBytes: 0, logCacheBytes: 0 },
    )
    const streams = await openStreams(
      { log, metadata, node, membership, clusterId: 'test', clock },
      { partitionsMax: 10, pollMs: 100 },
    )
    const started = { nodeId, log, streams, membership, ...connection }
    this.#nodes.push(started)
    await until(() => this.#nodes.every((other) => other.membership.isOver || seesAll(other, this.#nodes)))
    return started
  }

  async close(): Promise<void> {
    for (const { streams, log, membership } of this.#nodes) {
      if (membership.isOver) log.fence()
      await streams.close()
      await log.close()
      if (!membership.isOver) await membership.leave()
    }
    await this.metadata.close()
  }
}

function seesAll({ membership }: ClusterNode, nodes: readonly ClusterNode[]): boolean {
  const isThere = ({ membership: { node, isOver } }: ClusterNode) =>
    isOver || membership.nodes.some(({ nodeId, nodeEpoch }) => nodeId === node.nodeId && nodeEpoch === node.nodeEpoch)
  return nodes.every(isThere)
}

export async function until(isSo: () => boolean | Promise<boolean>, patienceMs = 5000): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !(await isSo()); ) {
    if (Date.now() > deadline) throw new Error(`not so after ${patienceMs} ms: ${isSo}`)
    await sleep(10)
  }
}

type Call = (...given: unknown[]) => unknown

/** A connection to the database that can be cut. */
function cuttable(metadata: Metadata): { metadata: Metadata; cut(): void; restore(): void } {
  let isCut = false
  const wrapped = new Map<object, object>()
  const wrap = (role: object): object => {
    const known = wrapped.get(role)
    if (known !== undefined) return known
    const proxy = new Proxy(role, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name)
        if (typeof found === 'object' && found !== null) return wrap(found)
        if (typeof found !== 'function' || name === 'watch') return found
        return (...given: unknown[]) => {
          const gone = new MetadataUnavailableError(String(name), { cause: new Error('cut off') })
          return isCut ? Promise.reject(gone) : (found as Call).apply(target, given)
        }
      },
    })
    wrapped.set(role, proxy)
    return proxy
  }
  return {
    metadata: wrap(metadata) as Metadata,
    cut() {
      isCut = true
    },
    restore() {
      isCut = false
    },
  }
}
