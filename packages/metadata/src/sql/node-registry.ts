import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { FencedError } from '../errors.ts'
import type { NodeIdentity, NodeRecord, NodeRegistry } from '../node-registry.ts'
import { reserveNumbers } from './counters.ts'
import type { SqlDatabase } from './database.ts'
import type { Schema } from './schema.ts'

export function sqlNodeRegistry(database: SqlDatabase): NodeRegistry {
  return {
    register: (node, nowMs) =>
      database.write(`registering node ${node.nodeId}`, (tx) => registerNode(database, tx, node, nowMs)),

    setAddresses: (node, addresses) =>
      database.write(
        `setting the addresses of node ${node.nodeId}`,
        (tx) => setAddresses(database, tx, node, addresses),
        'harmless',
      ),

    heartbeat: (node) =>
      database.writeOne(`renewing node ${node.nodeId}`, (db) => renewNode(database, db, node), 'harmless'),
    list: () => database.read('listing nodes', (db) => listNodes(database, db)),
    fenceSilent: (ttlMs) => database.write('fencing silent nodes', (tx) => fenceSilentNodes(database, tx, ttlMs)),
    fence: (node) => database.write(`fencing node ${node.nodeId}`, (tx) => fenceNode(database, tx, node), 'harmless'),
    setSlots: (nodeId, slots) =>
      database.write(`setting the slots of node ${nodeId}`, (tx) => setSlots(database, tx, nodeId, slots), 'harmless'),
    clusterId: (preferred) => database.write('reading the cluster id', (tx) => clusterId(tx, preferred), 'harmless'),
    reserve: (counter, count) =>
      database.writeOne(`reserving ${count} of ${counter}`, (db) => reserveNumbers(db, counter, count), 'harmless'),
  }
}

/** To be called first in every transaction a node makes in its own name. @throws FencedError when its epoch is not the current one. */
export async function requireCurrent(tx: Kysely<Schema>, node: NodeIdentity): Promise<void> {
  const row = await tx
    .selectFrom('nodes')
    .select('fenced')
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .executeTakeFirst()
  if (row === undefined || row.fenced !== 0) throw new FencedError(node.nodeId, node.nodeEpoch)
}

/** Every node's current epoch. */
export async function liveNodes(db: Kysely<Schema>): Promise<(NodeIdentity & { slots: number })[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['node_id', 'node_epoch', 'slots'])
    .where('fenced', '=', 0)
    .orderBy('node_id')
    .execute()
  return rows.map((row) => ({ nodeId: row.node_id, nodeEpoch: row.node_epoch, slots: row.slots }))
}

async function registerNode(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  node: { nodeId: number; addresses: Record<string, string>; slots: number },
  nowMs: number,
): Promise<NodeIdentity> {
  const last = await tx
    .selectFrom('nodes')
    .select('node_epoch')
    .where('node_id', '=', node.nodeId)
    .orderBy('node_epoch', 'desc')
    .limit(1)
    .executeTakeFirst()
  const nodeEpoch = (last?.node_epoch ?? 0) + 1
  await tx.updateTable('nodes').set({ fenced: 1 }).where('node_id', '=', node.nodeId).where('fenced', '=', 0).execute()
  await tx
    .insertInto('nodes')
    .values({
      node_id: node.nodeId,
      node_epoch: nodeEpoch,
      fenced: 0,
      addresses: JSON.stringify(node.addresses),
      slots: node.slots,
      registered_at_ms: nowMs,
      heartbeat_at_ms: database.nowMs(),
      wal_sequence: 0,
      wal_attempt: 0,
    })
    .execute()
  await database.changeLog.tell(tx, 'nodes')
  return { nodeId: node.nodeId, nodeEpoch }
}

async function setAddresses(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  node: NodeIdentity,
  addresses: Record<string, string>,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('nodes')
    .set({ addresses: JSON.stringify(addresses) })
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .where('fenced', '=', 0)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new FencedError(node.nodeId, node.nodeEpoch)
  await database.changeLog.tell(tx, 'nodes')
}

async function renewNode(database: SqlDatabase, db: Kysely<Schema>, node: NodeIdentity): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('nodes')
    .set({ heartbeat_at_ms: database.nowMs() })
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .where('fenced', '=', 0)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new FencedError(node.nodeId, node.nodeEpoch)
}

async function listNodes(database: SqlDatabase, db: Kysely<Schema>): Promise<NodeRecord[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['node_id', 'node_epoch', 'addresses', 'slots', 'fenced'])
    .select((eb) => eb(database.nowMs(), '-', eb.ref('heartbeat_at_ms')).as('silent_ms'))
    .where('node_epoch', '=', (eb) =>
      eb
        .selectFrom('nodes as runs')
        .select(({ fn }) => fn.max('runs.node_epoch').as('node_epoch'))
        .whereRef('runs.node_id', '=', 'nodes.node_id'),
    )
    .orderBy('node_id')
    .execute()
  return rows.map((row) => ({
    nodeId: row.node_id,
    nodeEpoch: row.node_epoch,
    addresses: JSON.parse(row.addresses) as Record<string, string>,
    slots: row.slots,
    isFenced: row.fenced !== 0,
    silentMs: Number(row.silent_ms),
  }))
}

/** In a transaction, unlike heartbeats: what a node does at the same time must come before this, or not at all. */
async function fenceSilentNodes(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  ttlMs: number,
): Promise<NodeIdentity[]> {
  const rows = await tx
    .updateTable('nodes')
    .set({ fenced: 1 })
    .where('fenced', '=', 0)
    .where((eb) => eb(eb.ref('heartbeat_at_ms'), '<', eb(database.nowMs(), '-', ttlMs)))
    .returning(['node_id', 'node_epoch'])
    .execute()
  if (rows.length > 0) await database.changeLog.tell(tx, 'nodes')
  return rows.map((row) => ({ nodeId: row.node_id, nodeEpoch: row.node_epoch }))
}

async function fenceNode(database: SqlDatabase, tx: Transaction<Schema>, node: NodeIdentity): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('nodes')
    .set({ fenced: 1 })
    .where('node_id', '=', node.nodeId)
    .where('node_epoch', '=', node.nodeEpoch)
    .where('fenced', '=', 0)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) await database.changeLog.tell(tx, 'nodes')
}

async function setSlots(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  nodeId: number,
  slots: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('nodes')
    .set({ slots })
    .where('node_id', '=', nodeId)
    .where('node_epoch', '=', (eb) =>
      eb
        .selectFrom('nodes as runs')
        .select(({ fn }) => fn.max('runs.node_epoch').as('node_epoch'))
        .where('runs.node_id', '=', nodeId),
    )
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  await database.changeLog.tell(tx, 'nodes')
  return true
}

async function clusterId(tx: Transaction<Schema>, preferred: string | undefined): Promise<string> {
  await tx
    .insertInto('facts')
    .values({ name: 'clusterId', value: preferred ?? randomUUID() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await tx.selectFrom('facts').select('value').where('name', '=', 'clusterId').executeTakeFirstOrThrow()
  return row.value
}
