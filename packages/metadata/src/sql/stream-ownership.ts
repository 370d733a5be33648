import type { ExpressionBuilder, Kysely, Transaction } from 'kysely'
import type { NodeIdentity } from '../node-registry.ts'
import type { LeaderEpochStart, OpenedStream, StreamRecord } from '../stream-catalog.ts'
import { idChunks } from './chunks.ts'
import { extentsOfStreams } from './extents.ts'
import { requireCurrent } from './node-registry.ts'
import type { Schema } from './schema.ts'
import { lifeNumbers, type StreamRow, streamColumns, streamRecord } from './stream-rows.ts'
import { statesOfStreams } from './stream-states.ts'

export async function openStreams(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamIds: readonly number[],
): Promise<OpenedStream[]> {
  await requireCurrent(tx, node)
  const wanted = [...new Set(streamIds)]
  const records = new Map<number, StreamRecord>()
  for (const chunk of idChunks(wanted)) {
    const rows = await tx
      .selectFrom('streams')
      .select(streamColumns)
      .where('stream_id', 'in', chunk)
      .where('life', '<>', lifeNumbers.gone)
      .execute()
    if (rows.some((row) => !isOwner(row, node))) await takeOver(tx, node, chunk)
    for (const row of rows) {
      const record = streamRecord(row)
      const leaderEpoch = isOwner(row, node) ? row.leader_epoch : row.leader_epoch + 1
      records.set(row.stream_id, { ...record, owner: node, leaderEpoch })
    }
  }
  const found = wanted.filter((streamId) => records.has(streamId))
  const extents = await extentsOfStreams(tx, found)
  const states = new Map((await statesOfStreams(tx, found)).map(({ streamId, state }) => [streamId, state]))
  return found.flatMap((streamId) => {
    const record = records.get(streamId)
    if (record === undefined) return []
    return [{ ...record, extents: extents.get(streamId) ?? [], state: states.get(streamId) ?? null }]
  })
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

function isOwner(row: StreamRow, node: NodeIdentity): boolean {
  return row.owner_node_id === node.nodeId && row.owner_node_epoch === node.nodeEpoch
}

/** Begins a leader epoch of every stream in `streamIds` that is not the node's already. */
async function takeOver(tx: Transaction<Schema>, node: NodeIdentity, streamIds: readonly number[]): Promise<void> {
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
