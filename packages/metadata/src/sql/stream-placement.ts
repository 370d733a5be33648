import type { Kysely, Transaction } from 'kysely'
import type { NodeIdentity } from '../node-registry.ts'
import type { StreamPlace } from '../stream-catalog.ts'
import { idChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import { liveNodes } from './node-registry.ts'
import type { Schema } from './schema.ts'
import { findOwners, takeOver } from './stream-ownership.ts'
import { endTransfers, pendingTargets } from './transfers.ts'

/** Streams that each node's latest run owns. Read outside of the transaction that goes by it: an even spread need not be exact. */
export async function ownedCounts(db: Kysely<Schema>): Promise<{ nodeId: number; streams: number }[]> {
  const rows = await db
    .selectFrom('streams')
    .innerJoin('nodes', (join) =>
      join
        .onRef('nodes.node_id', '=', 'streams.owner_node_id')
        .onRef('nodes.node_epoch', '=', 'streams.owner_node_epoch')
        .on('nodes.fenced', '=', 0),
    )
    .select(({ fn }) => ['nodes.node_id', fn.countAll<number>().as('streams')])
    .groupBy('nodes.node_id')
    .orderBy('nodes.node_id')
    .execute()
  return rows.map((row) => ({ nodeId: row.node_id, streams: row.streams }))
}

export async function streamsOwnedBy(
  db: Kysely<Schema>,
  node: NodeIdentity,
  page: { afterStreamId: number; limit: number },
): Promise<number[]> {
  const rows = await db
    .selectFrom('streams')
    .select('stream_id')
    .where('owner_node_id', '=', node.nodeId)
    .where('owner_node_epoch', '=', node.nodeEpoch)
    .where('stream_id', '>', page.afterStreamId)
    .orderBy('stream_id')
    .limit(page.limit)
    .execute()
  return rows.map((row) => row.stream_id)
}

/** How long a count of streams counts for: where there are many, counting is work, and an even spread need not be exact. */
const countedForMs = 1000

/** Places streams; what that needs to know of all streams it counts now and then, and goes on from there. */
export class StreamPlacer {
  readonly #database: SqlDatabase
  #counts = new Map<number, number>()
  #countedAtMs = Number.NEGATIVE_INFINITY

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  async place(streamIds: readonly number[], nowMs: number): Promise<StreamPlace[]> {
    const owned = await this.#database.read('looking where streams are', (db) => placesOfOwned(db, streamIds))
    if (owned !== null) return owned
    if (performance.now() > this.#countedAtMs + countedForMs) {
      const counts = await this.#database.read('counting streams of nodes', (db) => ownedCounts(db))
      this.#counts = new Map(counts.map(({ nodeId, streams }) => [nodeId, streams]))
      this.#countedAtMs = performance.now()
    }
    const place = (tx: Transaction<Schema>) => placeStreams(tx, streamIds, this.#counts, nowMs)
    return this.#database.write('placing streams', place, 'harmless')
  }
}

/** The places of streams that are all owned by somebody, or are not there; else null. */
async function placesOfOwned(db: Kysely<Schema>, streamIds: readonly number[]): Promise<StreamPlace[] | null> {
  const wanted = [...new Set(streamIds)]
  const found = await findOwners(db, wanted)
  const places: StreamPlace[] = []
  for (const streamId of wanted) {
    const stream = found.get(streamId)
    if (stream === undefined) continue
    if (stream.state !== 'owned') return null
    places.push({ streamId, leaderEpoch: stream.leaderEpoch, owner: stream.owner })
  }
  return places
}

/** `counts`: streams by node, which what is placed here is added to. */
async function placeStreams(
  tx: Transaction<Schema>,
  streamIds: readonly number[],
  counts: Map<number, number>,
  nowMs: number,
): Promise<StreamPlace[]> {
  const wanted = [...new Set(streamIds)]
  const found = await findOwners(tx, wanted)
  const free = wanted.filter((streamId) => found.get(streamId)?.state === 'free')
  const live = free.length === 0 ? [] : await liveNodes(tx)
  const targets = free.length === 0 ? new Map<number, number>() : await pendingTargets(tx, free)
  const choose = chooser(live, counts)
  const chosen = new Map<number, NodeIdentity>()
  for (const streamId of free) {
    const node = live.find((it) => it.nodeId === targets.get(streamId)) ?? choose()
    if (node !== null) chosen.set(streamId, { nodeId: node.nodeId, nodeEpoch: node.nodeEpoch })
  }
  for (const [node, placed] of Map.groupBy(chosen.keys(), (streamId) => chosen.get(streamId)?.nodeId)) {
    const identity = live.find((it) => it.nodeId === node)
    if (identity === undefined) continue
    for (const chunk of idChunks(placed)) await takeOver(tx, identity, chunk)
  }
  await endTransfers(tx, targets, chosen, nowMs)

  return wanted.flatMap((streamId) => {
    const stream = found.get(streamId)
    if (stream === undefined) return []
    const node = chosen.get(streamId)
    if (node !== undefined) return [{ streamId, leaderEpoch: stream.leaderEpoch + 1, owner: node }]
    const owner = stream.state === 'owned' ? stream.owner : stream.state === 'unadopted' ? 'unadopted' : 'no-node'
    return [{ streamId, leaderEpoch: stream.leaderEpoch, owner }]
  })
}

type Slotted = NodeIdentity & { readonly slots: number }

/** Of nodes that have slots, time and again the one with the fewest streams for each of them, the first of those that are equal. */
function chooser(live: readonly Slotted[], streams: Map<number, number>): () => Slotted | null {
  const takers = live.filter((node) => node.slots > 0)
  return () => {
    const ratio = (node: Slotted) => (streams.get(node.nodeId) ?? 0) / node.slots
    const best = takers.reduce<Slotted | null>((a, b) => (a === null || ratio(b) < ratio(a) ? b : a), null)
    if (best !== null) streams.set(best.nodeId, (streams.get(best.nodeId) ?? 0) + 1)
    return best
  }
}
