import type { Transaction } from 'kysely'
import { StreamNotOwnedError } from '../errors.ts'
import type { NodeIdentity } from '../node-registry.ts'
import { recordTopicChanges } from './changes.ts'
import { idChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import { doomUnreferenced } from './doomed-objects.ts'
import { requireCurrent } from './node-registry.ts'
import { ObjectUsage } from './object-usage.ts'
import type { Schema } from './schema.ts'
import { lifeNumbers } from './stream-rows.ts'

export async function trimStream(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamId: number,
  startOffset: number,
  nowMs: number,
): Promise<number | null> {
  await requireCurrent(tx, node)
  const stream = await tx
    .selectFrom('streams')
    .select(['owner_node_id', 'owner_node_epoch', 'start_offset', 'packed_bytes'])
    .where('stream_id', '=', streamId)
    .where('life', '<>', lifeNumbers.gone)
    .executeTakeFirst()
  if (stream === undefined) return null
  if (stream.owner_node_id !== node.nodeId || stream.owner_node_epoch !== node.nodeEpoch) {
    throw new StreamNotOwnedError(node.nodeId, node.nodeEpoch, streamId)
  }
  if (startOffset <= stream.start_offset) return stream.start_offset

  const usage = new ObjectUsage()
  const dropped = await tx
    .selectFrom('extents')
    .select(({ fn }) => ['object_id', fn.countAll<number>().as('extents'), fn.sum<number>('length_bytes').as('bytes')])
    .where('stream_id', '=', streamId)
    .where('end_offset', '<=', startOffset)
    .groupBy('object_id')
    .execute()
  await tx.deleteFrom('extents').where('stream_id', '=', streamId).where('end_offset', '<=', startOffset).execute()
  for (const { object_id, extents, bytes } of dropped) usage.add(object_id, -extents, -bytes)
  await tx
    .updateTable('streams')
    .set({
      start_offset: startOffset,
      packed_bytes: stream.packed_bytes - dropped.reduce((sum, { bytes }) => sum + bytes, 0),
    })
    .where('stream_id', '=', streamId)
    .execute()
  // An epoch that ended at or before the watermark has no record left; the one the watermark lies in stays.
  await tx
    .deleteFrom('stream_epochs')
    .where('stream_id', '=', streamId)
    .where('leader_epoch', '<', (eb) =>
      eb
        .selectFrom('stream_epochs as later')
        .select(({ fn }) => fn.max('later.leader_epoch').as('leader_epoch'))
        .where('later.stream_id', '=', streamId)
        .where('later.start_offset', '<=', startOffset),
    )
    .execute()
  await doomUnreferenced(tx, await usage.settle(tx), nowMs)
  return startOffset
}

/**
 * Extents, epochs and states go at once; rows from the last forks upwards, and what is left of those asked for stays as 'gone'.
 */
export async function deleteStreams(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  streamIds: readonly number[],
  nowMs: number,
): Promise<number[]> {
  const usage = new ObjectUsage()
  const found: { stream_id: number; topic_id: string; fork_source_id: number | null }[] = []
  for (const chunk of idChunks([...new Set(streamIds)])) {
    const rows = await tx
      .selectFrom('streams')
      .select(['stream_id', 'topic_id', 'fork_source_id'])
      .where('stream_id', 'in', chunk)
      .where('life', '<>', lifeNumbers.gone)
      .execute()
    found.push(...rows)
    const dropped = await tx
      .selectFrom('extents')
      .select(({ fn }) => [
        'object_id',
        fn.countAll<number>().as('extents'),
        fn.sum<number>('length_bytes').as('bytes'),
      ])
      .where('stream_id', 'in', chunk)
      .groupBy('object_id')
      .execute()
    for (const { object_id, extents, bytes } of dropped) usage.add(object_id, -extents, -bytes)
    await tx.deleteFrom('extents').where('stream_id', 'in', chunk).execute()
  }
  await deleteRows(tx, found)
  await recordTopicChanges(
    database,
    tx,
    found.map((row) => row.topic_id),
  )
  await doomUnreferenced(tx, await usage.settle(tx), nowMs)
  return found.map((row) => row.stream_id)
}

/** Deletes rows of which there is no fork, and then those that are left 'gone' without one. Epochs and states go with the row. */
async function deleteRows(
  tx: Transaction<Schema>,
  rows: readonly { stream_id: number; fork_source_id: number | null }[],
): Promise<void> {
  let wanted = rows
  while (wanted.length > 0) {
    const forked = await forkedAmong(
      tx,
      wanted.map((row) => row.stream_id),
    )
    const leaves = wanted.filter((row) => !forked.has(row.stream_id))
    for (const chunk of idChunks(leaves.map((row) => row.stream_id))) {
      await tx.deleteFrom('streams').where('stream_id', 'in', chunk).execute()
    }
    const kept = wanted.filter((row) => forked.has(row.stream_id))
    await markGone(
      tx,
      kept.map((row) => row.stream_id),
    )
    // The sources of what went may be 'gone' ones that were kept for it alone.
    wanted = await goneAmong(
      tx,
      leaves.flatMap((row) => row.fork_source_id ?? []),
    )
    if (leaves.length === 0) return
  }
}

async function forkedAmong(tx: Transaction<Schema>, streamIds: readonly number[]): Promise<Set<number>> {
  const forked = new Set<number>()
  for (const chunk of idChunks(streamIds)) {
    const rows = await tx
      .selectFrom('streams')
      .select('fork_source_id')
      .distinct()
      .where('fork_source_id', 'in', chunk)
      .execute()
    for (const row of rows) if (row.fork_source_id !== null) forked.add(row.fork_source_id)
  }
  return forked
}

async function goneAmong(
  tx: Transaction<Schema>,
  streamIds: readonly number[],
): Promise<{ stream_id: number; fork_source_id: number | null }[]> {
  const gone: { stream_id: number; fork_source_id: number | null }[] = []
  for (const chunk of idChunks([...new Set(streamIds)])) {
    const rows = await tx
      .selectFrom('streams')
      .select(['stream_id', 'fork_source_id'])
      .where('stream_id', 'in', chunk)
      .where('life', '=', lifeNumbers.gone)
      .execute()
    gone.push(...rows)
  }
  return gone
}

async function markGone(tx: Transaction<Schema>, streamIds: readonly number[]): Promise<void> {
  for (const chunk of idChunks(streamIds)) {
    await tx.deleteFrom('stream_epochs').where('stream_id', 'in', chunk).execute()
    await tx.deleteFrom('stream_states').where('stream_id', 'in', chunk).execute()
    await tx
      .updateTable('streams')
      .set({
        life: lifeNumbers.gone,
        topic: null,
        topic_key: null,
        packed_bytes: 0,
        retention_ms: null,
        retention_bytes: null,
        max_compaction_lag_ms: null,
        schema_name: null,
        schema_version: null,
        expires_at_ms: null,
        idle_ttl_ms: null,
      })
      .where('stream_id', 'in', chunk)
      .execute()
  }
}
