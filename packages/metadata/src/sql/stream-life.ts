import type { Kysely, Transaction } from 'kysely'
import { StreamNotOwnedError } from '../errors.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { StreamRecord } from '../stream-catalog.ts'
import { idChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import { requireCurrent } from './node-registry.ts'
import type { Schema } from './schema.ts'
import { lifeNumbers, streamColumns, streamRecord } from './stream-rows.ts'

export async function revealStreams(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streams: readonly { readonly streamId: number; readonly isClosed: boolean }[],
): Promise<Set<number>> {
  await requireCurrent(tx, node)
  const revealed = new Set<number>()
  for (const chunk of idChunks(streams.map(({ streamId }) => streamId))) {
    const rows = await tx
      .selectFrom('streams')
      .select(['stream_id', 'owner_node_id', 'owner_node_epoch'])
      .where('stream_id', 'in', chunk)
      .where('life', '=', lifeNumbers.creating)
      .execute()
    for (const row of rows) {
      requireOwner(node, row)
      revealed.add(row.stream_id)
    }
  }
  for (const closed of [0, 1]) {
    const ids = streams.flatMap(({ streamId, isClosed }) =>
      revealed.has(streamId) && isClosed === (closed === 1) ? [streamId] : [],
    )
    for (const chunk of idChunks(ids)) {
      const revealedNow = { life: lifeNumbers.live, closed }
      await tx.updateTable('streams').set(revealedNow).where('stream_id', 'in', chunk).execute()
    }
  }
  return revealed
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
  await requireCurrent(tx, node)
  const stream = await tx
    .selectFrom('streams')
    .select(['stream_id', 'owner_node_id', 'owner_node_epoch', 'closed'])
    .where('stream_id', '=', streamId)
    .where('life', '<>', lifeNumbers.gone)
    .executeTakeFirst()
  if (stream === undefined) return false
  requireOwner(node, stream)
  if (stream.closed === 1) return true
  await tx.updateTable('streams').set({ closed: 1, closed_by: closedBy }).where('stream_id', '=', streamId).execute()
  return true
}

/** @throws StreamNotOwnedError */
function requireOwner(
  { nodeId, nodeEpoch }: NodeIdentity,
  row: { stream_id: number; owner_node_id: number | null; owner_node_epoch: number | null },
): void {
  const isOwner = row.owner_node_id === nodeId && row.owner_node_epoch === nodeEpoch
  if (!isOwner) throw new StreamNotOwnedError(nodeId, nodeEpoch, row.stream_id)
}

export async function renewStreams(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  ends: readonly { readonly streamId: number; readonly expiresAtMs: number }[],
): Promise<void> {
  const rows = ends.map(({ streamId, expiresAtMs }) => ({ stream_id: streamId, expires_at_ms: expiresAtMs }))
  for (const table of database.integerTables(rows, ['stream_id', 'expires_at_ms'])) {
    await tx
      .with('ends(stream_id, expires_at_ms)', () => table)
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
