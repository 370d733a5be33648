import type { ExpressionBuilder, Kysely, Transaction } from 'kysely'
import type { NodeIdentity } from '../node-registry.ts'
import type { LeaderEpochStart, OpenedStream, StreamRecord } from '../stream-catalog.ts'
import { idChunks } from './chunks.ts'
import { extentsOfStreams } from './extents.ts'
import { liveNodes, requireCurrent } from './node-registry.ts'
import type { Schema } from './schema.ts'
import { lifeNumbers, selectStreams, streamRecord } from './stream-rows.ts'
import { statesOfStreams } from './stream-states.ts'

export async function openStreams(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamIds: readonly number[],
): Promise<OpenedStream[]> {
  await requireCurrent(tx, node)
  const wanted = [...new Set(streamIds)]
  const owners = await findOwners(tx, wanted)
  const free = wanted.filter((streamId) => owners.get(streamId)?.state === 'free')
  for (const chunk of idChunks(free)) await takeOver(tx, node, chunk)
  const own = wanted.filter((streamId) => {
    const stream = owners.get(streamId)
    return stream?.state === 'owned' && isSame(stream.owner, node)
  })
  const records = new Map<number, StreamRecord>()
  for (const row of await selectStreams(tx, 'stream_id', [...own, ...free])) {
    records.set(row.stream_id, streamRecord(row))
  }
  const found = wanted.filter((streamId) => records.has(streamId))
  const extents = await extentsOfStreams(tx, found)
  const states = new Map((await statesOfStreams(tx, found)).map(({ streamId, state }) => [streamId, state]))
  const epochStarts = await epochStartsOf(tx, found)
  return found.flatMap((streamId) => {
    const record = records.get(streamId)
    if (record === undefined) return []
    return [
      {
        ...record,
        extents: extents.get(streamId) ?? [],
        epochStartOffset: epochStarts.get(streamId) ?? record.packedOffset,
        state: states.get(streamId) ?? null,
      },
    ]
  })
}

async function epochStartsOf(db: Kysely<Schema>, streamIds: readonly number[]): Promise<Map<number, number>> {
  const starts = new Map<number, number>()
  for (const chunk of idChunks(streamIds)) {
    const rows = await db
      .selectFrom('streams')
      .innerJoin('stream_epochs', (join) =>
        join
          .onRef('stream_epochs.stream_id', '=', 'streams.stream_id')
          .onRef('stream_epochs.leader_epoch', '=', 'streams.leader_epoch'),
      )
      .select(['streams.stream_id', 'stream_epochs.start_offset as epochStartOffset'])
      .where('streams.stream_id', 'in', chunk)
      .execute()
    for (const row of rows) starts.set(row.stream_id, row.epochStartOffset)
  }
  return starts
}

export async function leaderEpochs(db: Kysely<Schema>, streamId: number): Promise<LeaderEpochStart[]> {
  const rows = await db
    .selectFrom('stream_epochs')
    .select(['leader_epoch', 'start_offset'])
    .where('stream_id', '=', streamId)
    .orderBy('leader_epoch')
    .execute()
  return rows.map((row) => ({ leaderEpoch: row.leader_epoch, startOffset: row.start_offset }))
}

/** Who has a stream: a live node; nobody; or a fenced one whose WAL, which may have entries of it, is still to be adopted. */
export type Ownership = { readonly leaderEpoch: number } & (
  | { readonly state: 'owned'; readonly owner: NodeIdentity }
  | { readonly state: 'free' | 'unadopted'; readonly owner: null }
)

/** Of those streams that are there, and not gone. */
export async function findOwners(tx: Kysely<Schema>, streamIds: readonly number[]): Promise<Map<number, Ownership>> {
  const found = new Map<number, Ownership>()
  const former = new Map<string, NodeIdentity>()
  const rows: { stream_id: number; leader_epoch: number; owner: NodeIdentity | null }[] = []
  const live = await liveNodes(tx)
  for (const chunk of idChunks(streamIds)) {
    const selected = await tx
      .selectFrom('streams')
      .select(['stream_id', 'leader_epoch', 'owner_node_id', 'owner_node_epoch'])
      .where('stream_id', 'in', chunk)
      .where('life', '<>', lifeNumbers.gone)
      .execute()
    for (const { owner_node_id: nodeId, owner_node_epoch: nodeEpoch, ...row } of selected) {
      const owner = nodeId === null || nodeEpoch === null ? null : { nodeId, nodeEpoch }
      rows.push({ ...row, owner })
      if (owner !== null && !live.some((it) => isSame(it, owner))) former.set(`${nodeId} ${nodeEpoch}`, owner)
    }
  }
  const unadopted = new Set<string>()
  for (const [key, node] of former) if (await hasWal(tx, node)) unadopted.add(key)
  for (const { stream_id, leader_epoch: leaderEpoch, owner } of rows) {
    const key = `${owner?.nodeId} ${owner?.nodeEpoch}`
    if (owner !== null && !former.has(key)) found.set(stream_id, { state: 'owned', owner, leaderEpoch })
    else found.set(stream_id, { state: unadopted.has(key) ? 'unadopted' : 'free', owner: null, leaderEpoch })
  }
  return found
}

export async function releaseStreams(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamIds: readonly number[],
): Promise<void> {
  await requireCurrent(tx, node)
  for (const chunk of idChunks(streamIds)) {
    await tx
      .updateTable('streams')
      .set({ owner_node_id: null, owner_node_epoch: null })
      .where('stream_id', 'in', chunk)
      .where('owner_node_id', '=', node.nodeId)
      .where('owner_node_epoch', '=', node.nodeEpoch)
      .execute()
  }
}

function isSame(a: NodeIdentity, b: NodeIdentity): boolean {
  return a.nodeId === b.nodeId && a.nodeEpoch === b.nodeEpoch
}

async function hasWal(tx: Kysely<Schema>, { nodeId, nodeEpoch }: NodeIdentity): Promise<boolean> {
  for (const table of ['wal_objects', 'wal_segments'] as const) {
    const row = await tx
      .selectFrom(table)
      .select('node_id')
      .where('node_id', '=', nodeId)
      .where('node_epoch', '=', nodeEpoch)
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) return true
  }
  return false
}

/** Begins a leader epoch of every stream in `streamIds` that is not the node's already. Whether it may have them was looked at. */
export async function takeOver(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamIds: readonly number[],
): Promise<void> {
  const ownedByOther = (eb: ExpressionBuilder<Schema, 'streams'>) =>
    eb.or([
      eb('owner_node_id', 'is', null),
      eb('owner_node_id', '<>', node.nodeId),
      eb('owner_node_epoch', '<>', node.nodeEpoch),
    ])
  // An epoch in which nothing was written leaves no trace, as in Kafka's leader epoch cache: restarts do not pile up rows.
  await tx
    .deleteFrom('stream_epochs')
    .where('stream_id', 'in', streamIds)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('streams')
          .select('streams.stream_id')
          .whereRef('streams.stream_id', '=', 'stream_epochs.stream_id')
          .whereRef('streams.packed_offset', '<=', 'stream_epochs.start_offset')
          .where(ownedByOther),
      ),
    )
    .execute()
  await tx
    .insertInto('stream_epochs')
    .columns(['stream_id', 'leader_epoch', 'start_offset'])
    .expression((eb) =>
      eb
        .selectFrom('streams')
        .select((row) => ['stream_id', row('leader_epoch', '+', 1).as('leader_epoch'), 'packed_offset'])
        .where('stream_id', 'in', streamIds)
        .where(ownedByOther),
    )
    .execute()
  await tx
    .updateTable('streams')
    .set((eb) => ({
      owner_node_id: node.nodeId,
      owner_node_epoch: node.nodeEpoch,
      leader_epoch: eb('leader_epoch', '+', 1),
    }))
    .where('stream_id', 'in', streamIds)
    .where(ownedByOther)
    .execute()
}
