import assert from 'node:assert/strict'
import type { Kysely, Transaction } from 'kysely'
import type { WalObjectRow, WalSegmentRow } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import { rowChunks } from './chunks.ts'
import { requireCurrent } from './node-registry.ts'
import type { Schema } from './schema.ts'

/** The commit of a flush on the shared WAL: one update that also is the fence, and one insert per 256 objects. */
export async function commitWalObjects(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  objects: readonly Omit<WalObjectRow, 'node'>[],
): Promise<void> {
  const first = objects[0]
  if (first === undefined) return
  for (const [index, object] of objects.entries()) assert.equal(object.sequence, first.sequence + index)
  const { numUpdatedRows } = await tx
    .updateTable('nodes')
    .set({ wal_sequence: first.sequence + objects.length - 1 })
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .where('fenced', '=', 0)
    .where('wal_sequence', '=', first.sequence - 1)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) {
    await requireCurrent(tx, node)
    assert.fail(`WAL sequence ${first.sequence} does not continue the last one committed by node ${node.nodeId}`)
  }
  const rows = objects.map((object) => ({
    node_id: node.nodeId,
    node_epoch: node.nodeEpoch,
    sequence: object.sequence,
    object_key: object.key,
    length_bytes: object.lengthBytes,
    wal_index: object.index,
  }))
  for (const chunk of rowChunks(rows)) await tx.insertInto('wal_objects').values(chunk).execute()
}

export async function isWalObjectCommitted(db: Kysely<Schema>, node: NodeIdentity, sequence: number): Promise<boolean> {
  // Not the object's own row: packing may have taken it away since.
  const row = await db
    .selectFrom('nodes')
    .select('wal_sequence')
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .executeTakeFirst()
  return row !== undefined && row.wal_sequence >= sequence
}

export async function walObjects(db: Kysely<Schema>, nodeId: number): Promise<WalObjectRow[]> {
  const rows = await db
    .selectFrom('wal_objects')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('node_epoch')
    .orderBy('sequence')
    .execute()
  return rows.map((row) => ({
    node: { nodeId: row.node_id, nodeEpoch: row.node_epoch },
    sequence: row.sequence,
    key: row.object_key,
    lengthBytes: row.length_bytes,
    index: row.wal_index,
  }))
}

export async function createWalSegment(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  segment: Omit<WalSegmentRow, 'node' | 'committedBytes'>,
): Promise<void> {
  await requireCurrent(tx, node)
  const row = {
    segment_id: segment.segmentId,
    node_id: node.nodeId,
    node_epoch: node.nodeEpoch,
    object_key: segment.key,
    size_bytes: segment.sizeBytes,
    committed_bytes: null,
  }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('wal_segments')
    .values(row)
    .onConflict((conflict) => conflict.column('segment_id').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 1n) return
  // Only a caller that lost the answer the first time comes twice.
  const recorded = await tx
    .selectFrom('wal_segments')
    .selectAll()
    .where('segment_id', '=', segment.segmentId)
    .executeTakeFirst()
  assert.deepEqual({ ...recorded }, row, `WAL segment ${segment.segmentId} is another one`)
}

export async function closeWalSegment(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  segmentId: number,
  committedBytes: number,
): Promise<void> {
  await requireCurrent(tx, node)
  const { numUpdatedRows } = await tx
    .updateTable('wal_segments')
    .set({ committed_bytes: committedBytes })
    .where('segment_id', '=', segmentId)
    .where('committed_bytes', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) return
  const row = await tx
    .selectFrom('wal_segments')
    .select('committed_bytes')
    .where('segment_id', '=', segmentId)
    .executeTakeFirst()
  assert.equal(row?.committed_bytes, committedBytes, `WAL segment ${segmentId} is gone or ends elsewhere`)
}

export async function walSegments(db: Kysely<Schema>, nodeId: number): Promise<WalSegmentRow[]> {
  const rows = await db
    .selectFrom('wal_segments')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('segment_id')
    .execute()
  return rows.map((row) => ({
    node: { nodeId: row.node_id, nodeEpoch: row.node_epoch },
    segmentId: row.segment_id,
    key: row.object_key,
    sizeBytes: row.size_bytes,
    committedBytes: row.committed_bytes,
  }))
}

/**
 * Takes away the rows of WAL that is in extents now, and returns the keys of those that were there. A live node's rows can only be
 * taken away by itself.
 */
export async function releaseWal(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  wal: {
    readonly walObjects: readonly { readonly node: NodeIdentity; readonly sequence: number }[]
    readonly walSegments: readonly number[]
  },
): Promise<string[]> {
  const released: { node_id: number; node_epoch: number; object_key: string }[] = []
  const byWriter = Map.groupBy(wal.walObjects, (object) => `${object.node.nodeId} ${object.node.nodeEpoch}`)
  for (const objects of byWriter.values()) {
    for (const chunk of rowChunks(objects)) {
      const rows = await tx
        .deleteFrom('wal_objects')
        .where('node_id', '=', chunk[0]?.node.nodeId ?? 0)
        .where('node_epoch', '=', chunk[0]?.node.nodeEpoch ?? 0)
        .where(
          'sequence',
          'in',
          chunk.map((object) => object.sequence),
        )
        .returning(['node_id', 'node_epoch', 'object_key'])
        .execute()
      released.push(...rows)
    }
  }
  for (const chunk of rowChunks(wal.walSegments)) {
    const rows = await tx
      .deleteFrom('wal_segments')
      .where('segment_id', 'in', chunk)
      .returning(['node_id', 'node_epoch', 'object_key'])
      .execute()
    released.push(...rows)
  }
  await requireOwnOrFenced(tx, node, released)
  return released.map((row) => row.object_key)
}

async function requireOwnOrFenced(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  writers: readonly { node_id: number; node_epoch: number }[],
): Promise<void> {
  const others = new Map<number, Set<number>>()
  for (const { node_id, node_epoch } of writers) {
    if (node_id === node.nodeId && node_epoch === node.nodeEpoch) continue
    others.set(node_id, (others.get(node_id) ?? new Set()).add(node_epoch))
  }
  if (others.size === 0) return
  for (const live of await liveNodes(tx)) {
    assert(!others.get(live.nodeId)?.has(live.nodeEpoch), `node ${live.nodeId} still writes the WAL being released`)
  }
}

/** Every node's current epoch. */
export async function liveNodes(db: Kysely<Schema>): Promise<NodeIdentity[]> {
  const rows = await db.selectFrom('nodes').select(['node_id', 'node_epoch']).where('fenced', '=', 0).execute()
  return rows.map((row) => ({ nodeId: row.node_id, nodeEpoch: row.node_epoch }))
}
