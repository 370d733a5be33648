import type { Kysely, Transaction } from 'kysely'
import type { Compaction, ObjectSummary } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { Schema } from './schema.ts'

export async function compactionCandidates(
  db: Kysely<Schema>,
  limits: { maxBytes: number; limit: number },
): Promise<ObjectSummary[]> {
  // Small and thinly used are one thing here: what merging would have to copy.
  const rows = await db
    .selectFrom('data_objects')
    .selectAll()
    .where('live_bytes', '<=', limits.maxBytes)
    .orderBy('live_bytes')
    .orderBy('object_id')
    .limit(limits.limit)
    .execute()
  return rows.map((row) => ({
    objectId: row.object_id,
    key: row.object_key,
    lengthBytes: row.length_bytes,
    liveBytes: row.live_bytes,
    extents: row.extent_count,
  }))
}

export async function commitCompaction(
  _tx: Transaction<Schema>,
  _node: NodeIdentity,
  _compaction: Compaction,
  _nowMs: number,
): Promise<void> {
  throw new Error('not yet')
}
