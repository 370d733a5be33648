import type { Kysely, Transaction } from 'kysely'
import type { Compaction, ObjectSummary } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import { idChunks } from './chunks.ts'
import { mergeExtents, type ReplacedExtent } from './compaction-cuts.ts'
import type { SqlDatabase } from './database.ts'
import { doomUnreferenced, requireAnnounced, unmark } from './doomed-objects.ts'
import { insertExtents } from './extents.ts'
import { requireCurrent } from './node-registry.ts'
import { insertObjects, ObjectUsage } from './object-usage.ts'
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
  database: SqlDatabase,
  tx: Transaction<Schema>,
  node: NodeIdentity,
  compaction: Compaction,
  nowMs: number,
): Promise<void> {
  await requireCurrent(tx, node)
  const { object } = compaction
  const { merged, replaced } = mergeExtents(compaction, await selectReplaced(tx, compaction.replaced))
  if (merged.length > 0) await requireAnnounced(tx, [object.key], nowMs)

  if (merged.length > 0) {
    await unmark(tx, [object.key])
    await insertObjects(tx, [object])
  }

  const usage = new ObjectUsage()
  for (const extent of replaced) usage.add(extent.objectId, -1, -extent.lengthBytes)
  for (const extent of merged) usage.add(object.objectId, 1, extent.lengthBytes)
  await deleteExtents(database, tx, replaced)
  await insertExtents(database, tx, merged)
  const freed = await usage.settle(tx)
  await doomUnreferenced(tx, [...freed, object.key], nowMs)
}

async function selectReplaced(tx: Transaction<Schema>, objectIds: readonly number[]): Promise<ReplacedExtent[]> {
  const extents: ReplacedExtent[] = []
  for (const chunk of idChunks(objectIds)) {
    const rows = await tx
      .selectFrom('extents')
      .select([
        'stream_id',
        'base_offset',
        'end_offset',
        'object_id',
        'length_bytes',
        'max_timestamp_ms',
        'aged_from_ms',
      ])
      .where('object_id', 'in', chunk)
      .execute()
    for (const row of rows) {
      extents.push({
        streamId: row.stream_id,
        baseOffset: row.base_offset,
        endOffset: row.end_offset,
        objectId: row.object_id,
        lengthBytes: row.length_bytes,
        maxTimestampMs: row.max_timestamp_ms,
        agedFromMs: row.aged_from_ms,
      })
    }
  }
  return extents
}

async function deleteExtents(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  extents: readonly ReplacedExtent[],
): Promise<void> {
  const keys = extents.map(({ streamId, baseOffset }) => ({ stream_id: streamId, base_offset: baseOffset }))
  for (const table of database.integerTables(keys, ['stream_id', 'base_offset'])) {
    await tx
      .with('gone(stream_id, base_offset)', () => table)
      .deleteFrom('extents')
      .where((eb) =>
        eb(
          eb.refTuple('extents.stream_id', 'extents.base_offset'),
          'in',
          eb.selectFrom('gone').select(['gone.stream_id', 'gone.base_offset']).$asTuple('stream_id', 'base_offset'),
        ),
      )
      .execute()
  }
}
