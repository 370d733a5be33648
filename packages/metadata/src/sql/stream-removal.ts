import type { Transaction } from 'kysely'
import { FencedError } from '../errors.ts'
import type { NodeIdentity } from '../node-registry.ts'
import { idChunks } from './chunks.ts'
import { doomUnreferenced } from './doomed-objects.ts'
import { requireCurrent } from './node-registry.ts'
import { ObjectUsage } from './object-usage.ts'
import type { Schema } from './schema.ts'

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
    .executeTakeFirst()
  if (stream === undefined) return null
  if (stream.owner_node_id !== node.nodeId || stream.owner_node_epoch !== node.nodeEpoch) {
    throw new FencedError(node.nodeId, node.nodeEpoch, streamId)
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

export async function deleteStreams(
  tx: Transaction<Schema>,
  streamIds: readonly number[],
  nowMs: number,
): Promise<number[]> {
  const usage = new ObjectUsage()
  const deleted: number[] = []
  for (const chunk of idChunks([...new Set(streamIds)])) {
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
    // Its epochs and its state go with the row.
    const rows = await tx.deleteFrom('streams').where('stream_id', 'in', chunk).returning('stream_id').execute()
    for (const row of rows) deleted.push(row.stream_id)
  }
  await doomUnreferenced(tx, await usage.settle(tx), nowMs)
  return deleted
}
