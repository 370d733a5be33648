import type { Kysely, Transaction } from 'kysely'
import { StreamNotOwnedError } from '../errors.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { StreamRecord } from '../stream-catalog.ts'
import type { Schema } from './schema.ts'
import { isAmong, type OwnedStreams } from './stream-owner.ts'
import { lifeNumbers, streamColumns, streamRecord } from './stream-rows.ts'

/** Only streams that set a limit are looked at, by the partial index. */
export async function compactionDue(
  db: Kysely<Schema>,
  of: OwnedStreams,
  nowMs: number,
  limit: number,
): Promise<StreamRecord[]> {
  const rows = await db
    .selectFrom('streams')
    .select(streamColumns)
    .where('max_compaction_lag_ms', 'is not', null)
    .where((eb) =>
      eb('dirty_since_ms', '<', eb(eb.cast<number>(eb.val(nowMs), 'bigint'), '-', eb.ref('max_compaction_lag_ms'))),
    )
    .where('life', '=', lifeNumbers.live)
    .where(isAmong(of))
    .orderBy('stream_id')
    .limit(limit)
    .execute()
  return rows.map(streamRecord)
}

export async function recordCompacted(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  streamId: number,
  compactedTo: number,
): Promise<boolean> {
  const owner = await tx
    .selectFrom('streams')
    .select(['owner_node_id', 'owner_node_epoch'])
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  if (owner === undefined) return false
  if (owner.owner_node_id !== node.nodeId || owner.owner_node_epoch !== node.nodeEpoch) {
    throw new StreamNotOwnedError(node.nodeId, node.nodeEpoch, streamId)
  }
  await setDirtySince(tx, streamId, compactedTo)
  return true
}

/** By the extents that end past `compactedTo`. A pack moves it down by itself. */
export async function setDirtySince(tx: Transaction<Schema>, streamId: number, compactedTo: number): Promise<void> {
  await tx
    .updateTable('streams')
    .set((eb) => ({
      dirty_since_ms: eb
        .selectFrom('extents')
        .select(({ fn }) => fn.min('extents.aged_from_ms').as('dirty_since_ms'))
        .where('extents.stream_id', '=', streamId)
        .where('extents.end_offset', '>', compactedTo),
    }))
    .where('stream_id', '=', streamId)
    .execute()
}
