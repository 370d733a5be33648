import type { Transaction } from 'kysely'
import { StreamNotOwnedError } from '../errors.ts'
import type { ExtentReplacement } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { SqlDatabase } from './database.ts'
import { doomUnreferenced, requireAnnounced, unmark } from './doomed-objects.ts'
import { insertExtents } from './extents.ts'
import { requireCurrent } from './node-registry.ts'
import { insertObjects, ObjectUsage } from './object-usage.ts'
import type { Schema } from './schema.ts'

export async function replaceExtents(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  node: NodeIdentity,
  { object, extent, replaced }: ExtentReplacement,
  nowMs: number,
): Promise<boolean> {
  await requireCurrent(tx, node)
  const { streamId } = extent
  const stream = await tx
    .selectFrom('streams')
    .select(['owner_node_id', 'owner_node_epoch', 'packed_bytes'])
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  const isOurs = stream?.owner_node_id === node.nodeId && stream.owner_node_epoch === node.nodeEpoch
  if (stream !== undefined && !isOurs) throw new StreamNotOwnedError(node.nodeId, node.nodeEpoch, streamId)

  const current = await tx
    .selectFrom('extents')
    .select(['base_offset', 'end_offset', 'object_id', 'length_bytes', 'aged_from_ms'])
    .where('stream_id', '=', streamId)
    .where('base_offset', '>=', extent.baseOffset)
    .where('base_offset', '<', extent.endOffset)
    .orderBy('base_offset')
    .execute()
  if (current.length === 1 && current[0]?.object_id === object.objectId) return true
  const isAsSeen =
    current.length === replaced.length &&
    replaced.every(({ baseOffset, endOffset, objectId }, index) => {
      const row = current[index]
      return row?.base_offset === baseOffset && row.end_offset === endOffset && row.object_id === objectId
    })
  if (stream === undefined || !isAsSeen) {
    await doomUnreferenced(tx, [object.key], nowMs)
    return false
  }

  await requireAnnounced(tx, [object.key], nowMs)
  await unmark(tx, [object.key])
  await insertObjects(tx, [object])
  const usage = new ObjectUsage()
  for (const row of current) usage.add(row.object_id, -1, -row.length_bytes)
  usage.add(object.objectId, 1, extent.lengthBytes)
  await tx
    .deleteFrom('extents')
    .where('stream_id', '=', streamId)
    .where('base_offset', '>=', extent.baseOffset)
    .where('base_offset', '<', extent.endOffset)
    .execute()
  await insertExtents(database, tx, [{ ...extent, agedFromMs: Math.max(...current.map((row) => row.aged_from_ms)) }])
  const gone = current.reduce((sum, row) => sum + row.length_bytes, 0)
  await tx
    .updateTable('streams')
    .set({ packed_bytes: stream.packed_bytes - gone + extent.lengthBytes })
    .where('stream_id', '=', streamId)
    .execute()
  await doomUnreferenced(tx, await usage.settle(tx), nowMs)
  return true
}
