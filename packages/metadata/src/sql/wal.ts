import assert from 'node:assert/strict'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { WalObjectRow, WalSegmentRow } from '../log-index.ts'
import type { NodeIdentity } from '../node-registry.ts'
import { rowChunks } from './chunks.ts'
import type { SqlDatabase } from './database.ts'
import { liveNodes, requireCurrent } from './node-registry.ts'
import type { Schema } from './schema.ts'

type NewWalObject = Omit<WalObjectRow, 'node'>

/**
 * The commit of a flush on the shared WAL: an update that also is the fence, and an insert. Where the database can do both in one
 * statement, that is the whole transaction, and one round trip.
 */
export async function commitWalObjects(
  database: SqlDatabase,
  node: NodeIdentity,
  objects: readonly NewWalObject[],
  attempt: number,
): Promise<void> {
  const doing = 'committing WAL objects'
  for (const [index, object] of objects.entries()) assert.equal(object.sequence, (objects[0]?.sequence ?? 0) + index)
  if (database.writesInCtes) {
    const isCommitted = await database.writeOne(doing, (db) => commitInOne(db, node, objects, attempt))
    if (!isCommitted) await database.read(doing, (db) => refuseCommit(db, node, objects))
  } else {
    await database.write(doing, async (tx) => {
      if (!(await commitInTwo(tx, node, objects, attempt))) await refuseCommit(tx, node, objects)
    })
  }
}

async function commitInTwo(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  objects: readonly NewWalObject[],
  attempt: number,
): Promise<boolean> {
  if (objects.length === 0) return true
  const { numUpdatedRows } = await advanceSequence(tx, node, objects, attempt).executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  const identity = { node_id: node.nodeId, node_epoch: node.nodeEpoch }
  for (const chunk of rowChunks(objects.map((object) => ({ ...identity, ...walObjectColumns(object) })))) {
    await tx.insertInto('wal_objects').values(chunk).execute()
  }
  return true
}

async function commitInOne(
  db: Kysely<Schema>,
  node: NodeIdentity,
  objects: readonly NewWalObject[],
  attempt: number,
): Promise<boolean> {
  if (objects.length === 0) return true
  const rows = objects.map((object) => {
    const { sequence, object_key, length_bytes, wal_index } = walObjectColumns(object)
    return sql`(${sequence}::bigint, ${object_key}::text, ${length_bytes}::bigint, ${wal_index}::bytea)`
  })
  const given = sql<ReturnType<typeof walObjectColumns>>`(values ${sql.join(rows)})`
  const { numInsertedOrUpdatedRows } = await db
    .with('advanced', () => advanceSequence(db, node, objects, attempt).returning(['node_id', 'node_epoch']))
    .with('given(sequence, object_key, length_bytes, wal_index)', () => given)
    .insertInto('wal_objects')
    .columns(['node_id', 'node_epoch', 'sequence', 'object_key', 'length_bytes', 'wal_index'])
    .expression((eb) =>
      eb
        .selectFrom(['advanced', 'given'])
        .select([
          'advanced.node_id',
          'advanced.node_epoch',
          'given.sequence',
          'given.object_key',
          'given.length_bytes',
          'given.wal_index',
        ]),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === BigInt(objects.length)
}

function advanceSequence(db: Kysely<Schema>, node: NodeIdentity, objects: readonly NewWalObject[], attempt: number) {
  const first = objects[0]?.sequence ?? 0
  return db
    .updateTable('nodes')
    .set({ wal_sequence: first + objects.length - 1 })
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .where('fenced', '=', 0)
    .where('wal_sequence', '=', first - 1)
    .where('wal_attempt', '=', attempt)
}

function walObjectColumns(object: NewWalObject) {
  return {
    sequence: object.sequence,
    object_key: object.key,
    length_bytes: object.lengthBytes,
    wal_index: object.index,
  }
}

/** Says why nothing advanced. */
async function refuseCommit(db: Kysely<Schema>, node: NodeIdentity, objects: readonly NewWalObject[]): Promise<never> {
  await requireCurrent(db, node)
  assert.fail(`WAL sequence ${objects[0]?.sequence} does not continue the last one committed by node ${node.nodeId}`)
}

export async function settleWalCommit(
  db: Kysely<Schema>,
  node: NodeIdentity,
  sequence: number,
  attempt: number,
): Promise<boolean> {
  // The update waits for a commit that is under way, and turns away one that comes later. Not the object's own row: packing may have
  // taken it away since.
  const row = await db
    .updateTable('nodes')
    .set((eb) => ({
      wal_attempt: eb
        .case()
        .when('wal_attempt', '>', attempt)
        .then(eb.ref('wal_attempt'))
        .else(attempt + 1)
        .end(),
    }))
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .returning('wal_sequence')
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

/** Fenced node epochs that have WAL left. */
export async function unadoptedNodes(db: Kysely<Schema>): Promise<NodeIdentity[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['node_id', 'node_epoch'])
    .where('fenced', '=', 1)
    .where((eb) => eb.or(walTables.map((table) => eb.exists(walOfNode(db, table)))))
    .orderBy('node_id')
    .orderBy('node_epoch')
    .execute()
  return rows.map((row) => ({ nodeId: row.node_id, nodeEpoch: row.node_epoch }))
}

const walTables = ['wal_objects', 'wal_segments'] as const

function walOfNode(db: Kysely<Schema>, table: (typeof walTables)[number]) {
  return db
    .selectFrom(table)
    .select(`${table}.node_id`)
    .whereRef(`${table}.node_id`, '=', sql.ref('nodes.node_id'))
    .whereRef(`${table}.node_epoch`, '=', sql.ref('nodes.node_epoch'))
}
