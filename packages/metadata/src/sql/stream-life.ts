import type { Kysely, Transaction } from 'kysely'
import { FencedError } from '../errors.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { StreamRecord } from '../stream-catalog.ts'
import { rowChunks } from './chunks.ts'
import { requireCurrent } from './node-registry.ts'
import type { Schema } from './schema.ts'
import { lifeNumbers, streamColumns, streamRecord } from './stream-rows.ts'
import { integerRows } from './values-table.ts'

export async function revealStream(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamId: number,
  isClosed: boolean,
): Promise<boolean> {
  const stream = await selectOwned(tx, node, streamId)
  if (stream?.life !== lifeNumbers.creating) return false
  await tx
    .updateTable('streams')
    .set({ life: lifeNumbers.live, closed: isClosed ? 1 : 0 })
    .where('stream_id', '=', streamId)
    .execute()
  return true
}

export async function streamsBeingCreated(
  db: Kysely<Schema>,
  page: { afterStreamId: number; limit: number },
): Promise<StreamRecord[]> {
  const rows = await db
    .selectFrom('streams')
    .select(streamColumns)
    // A literal, or the partial index would not be seen to hold all of them.
    .where('life', '=', (eb) => eb.lit(lifeNumbers.creating))
    .where('stream_id', '>', page.afterStreamId)
    .orderBy('stream_id')
    .limit(page.limit)
    .execute()
  return rows.map(streamRecord)
}

export async function closeStream(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamId: number,
  closedBy: string | null,
): Promise<boolean> {
  const stream = await selectOwned(tx, node, streamId)
  if (stream === undefined) return false
  if (stream.closed === 1) return true
  await tx.updateTable('streams').set({ closed: 1, closed_by: closedBy }).where('stream_id', '=', streamId).execute()
  return true
}

/** Undefined when it is gone. @throws FencedError when it is not the node's. */
async function selectOwned(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamId: number,
): Promise<{ life: number; closed: number } | undefined> {
  await requireCurrent(tx, node)
  const stream = await tx
    .selectFrom('streams')
    .select(['owner_node_id', 'owner_node_epoch', 'life', 'closed'])
    .where('stream_id', '=', streamId)
    .where('life', '<>', lifeNumbers.gone)
    .executeTakeFirst()
  if (stream === undefined) return undefined
  if (stream.owner_node_id === node.nodeId && stream.owner_node_epoch === node.nodeEpoch) return stream
  throw new FencedError(node.nodeId, node.nodeEpoch, streamId)
}

export async function renewStreams(
  tx: Transaction<Schema>,
  ends: readonly { readonly streamId: number; readonly expiresAtMs: number }[],
): Promise<void> {
  const rows = ends.map(({ streamId, expiresAtMs }) => ({ stream_id: streamId, expires_at_ms: expiresAtMs }))
  for (const chunk of rowChunks(rows)) {
    await tx
      .with('ends(stream_id, expires_at_ms)', () => integerRows(chunk, ['stream_id', 'expires_at_ms']))
      .updateTable('streams')
      .from('ends')
      .set((eb) => ({ expires_at_ms: eb.ref('ends.expires_at_ms') }))
      .whereRef('streams.stream_id', '=', 'ends.stream_id')
      .whereRef('streams.expires_at_ms', '<', 'ends.expires_at_ms')
      .execute()
  }
}

export async function expiredStreams(db: Kysely<Schema>, nowMs: number, limit: number): Promise<StreamRecord[]> {
  const rows = await db
    .selectFrom('streams')
    .select(streamColumns)
    .where('expires_at_ms', '<=', nowMs)
    .where('life', '=', lifeNumbers.live)
    .orderBy('expires_at_ms')
    .orderBy('stream_id')
    .limit(limit)
    .execute()
  return rows.map(streamRecord)
}
