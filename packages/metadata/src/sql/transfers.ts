import type { Kysely, Selectable, Transaction } from 'kysely'
import type { NodeIdentity } from '../node-registry.ts'
import type { Transfer, TransferRefusal, Transfers } from '../transfers.ts'
import { idChunks } from './chunks.ts'
import { reserveNumbers } from './counters.ts'
import type { SqlDatabase } from './database.ts'
import { liveNodes, requireCurrent } from './node-registry.ts'
import type { Schema, TransfersTable } from './schema.ts'
import { findOwners, takeOver } from './stream-ownership.ts'

const stateNumbers = { pending: 0, done: 1, failed: 2 } as const satisfies Record<Transfer['state'], number>
const states = ['pending', 'done', 'failed'] as const

export function sqlTransfers(database: SqlDatabase): Transfers {
  // A hundred that are asked for at once would be given up for each other again and again: they write to the same few pages.
  let lastRequest: Promise<unknown> = Promise.resolve()
  return {
    request(streamId, toNodeId, nowMs) {
      const turn = lastRequest.then(async () => {
        const doing = `requesting a transfer of stream ${streamId}`
        // Outside of the transaction, which would be given up for whoever else takes one: a number that is not used is no loss.
        const transferId = await database.writeOne(doing, (db) => reserveNumbers(db, 'transferId', 1), 'harmless')
        return database.write(doing, (tx) => request(database, tx, { transferId, streamId, toNodeId, nowMs }))
      })
      lastRequest = turn.catch(() => undefined) // whoever asked is told
      return turn
    },
    get: (transferId) =>
      database.read(`looking up transfer ${transferId}`, async (db) => {
        const row = await db
          .selectFrom('transfers')
          .selectAll()
          .where('transfer_id', '=', transferId)
          .executeTakeFirst()
        return row === undefined ? null : transfer(row)
      }),
    pending: ({ afterTransferId, limit }) =>
      database.read('listing transfers', async (db) => {
        const rows = await selectPending(db).where('transfer_id', '>', afterTransferId).limit(limit).execute()
        return rows.map(transfer)
      }),
    pendingOf: (node, limit) =>
      database.read('listing transfers of a node', async (db) => {
        // Nearly always there is none, and a planner that does not know that would begin with all streams of the node.
        if ((await selectPending(db).limit(1).execute()).length === 0) return []
        const rows = await selectPending(db)
          .innerJoin('streams', 'streams.stream_id', 'transfers.stream_id')
          .where('streams.owner_node_id', '=', node.nodeId)
          .where('streams.owner_node_epoch', '=', node.nodeEpoch)
          .limit(limit)
          .execute()
        return rows.map(transfer)
      }),
    handOver: (node, transferIds, nowMs) =>
      database.write('handing streams over', (tx) => handOver(tx, node, transferIds, nowMs)),
    forget: (endedBeforeMs) =>
      database.write('forgetting transfers', async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('transfers')
          .where('state', '<>', stateNumbers.pending)
          .where('ended_at_ms', '<', endedBeforeMs)
          .executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      }),
  }
}

/** Where streams are to go, of those that are to go somewhere. */
export async function pendingTargets(
  tx: Transaction<Schema>,
  streamIds: readonly number[],
): Promise<Map<number, number>> {
  const targets = new Map<number, number>()
  for (const chunk of idChunks(streamIds)) {
    const rows = await tx
      .selectFrom('transfers')
      .select(['stream_id', 'to_node_id'])
      .where('stream_id', 'in', chunk)
      .where('state', '=', stateNumbers.pending)
      .execute()
    for (const row of rows) targets.set(row.stream_id, row.to_node_id)
  }
  return targets
}

/** Ends the pending transfers of streams that have been given to somebody: to the target, or to another as that one was not there. */
export async function endTransfers(
  tx: Transaction<Schema>,
  targets: ReadonlyMap<number, number>,
  owners: ReadonlyMap<number, NodeIdentity>,
  nowMs: number,
): Promise<void> {
  for (const state of ['done', 'failed'] as const) {
    const ended = [...targets].flatMap(([streamId, target]) => {
      const owner = owners.get(streamId)
      return owner !== undefined && (owner.nodeId === target) === (state === 'done') ? [streamId] : []
    })
    for (const chunk of idChunks(ended)) {
      await tx
        .updateTable('transfers')
        .set({ state: stateNumbers[state], ended_at_ms: nowMs })
        .where('stream_id', 'in', chunk)
        .where('state', '=', stateNumbers.pending)
        .execute()
    }
  }
}

async function request(
  database: SqlDatabase,
  tx: Transaction<Schema>,
  wanted: {
    readonly transferId: number
    readonly streamId: number
    readonly toNodeId: number
    readonly nowMs: number
  },
): Promise<Transfer | TransferRefusal> {
  const { transferId, streamId, toNodeId, nowMs } = wanted
  const stream = (await findOwners(tx, [streamId])).get(streamId)
  if (stream === undefined) return 'no-stream'
  const target = (await liveNodes(tx)).find((node) => node.nodeId === toNodeId)
  if (target === undefined) return 'no-node'
  const { numUpdatedRows } = await tx
    .updateTable('transfers')
    .set({ state: stateNumbers.failed, ended_at_ms: nowMs })
    .where('stream_id', '=', streamId)
    .where('state', '=', stateNumbers.pending)
    .where('to_node_id', '<>', toNodeId)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) await database.changeLog.tell(tx, 'transfers')
  if (stream.state === 'owned' && stream.owner.nodeId === toNodeId) return 'already-there'
  const pending = await selectPending(tx).where('transfers.stream_id', '=', streamId).executeTakeFirst()
  if (pending !== undefined) return transfer(pending)

  const isFree = stream.state === 'free'
  if (isFree) await takeOver(tx, target, [streamId])
  const row = {
    transfer_id: transferId,
    stream_id: streamId,
    to_node_id: toNodeId,
    state: isFree ? stateNumbers.done : stateNumbers.pending,
    requested_at_ms: nowMs,
    ended_at_ms: isFree ? nowMs : null,
  }
  await tx.insertInto('transfers').values(row).execute()
  await database.changeLog.tell(tx, 'transfers')
  return transfer(row)
}

async function handOver(
  tx: Transaction<Schema>,
  node: NodeIdentity,
  transferIds: readonly number[],
  nowMs: number,
): Promise<Transfer[]> {
  await requireCurrent(tx, node)
  const live = await liveNodes(tx)
  const ended: Transfer[] = []
  for (const chunk of idChunks(transferIds)) {
    const rows = await selectPending(tx)
      .innerJoin('streams', 'streams.stream_id', 'transfers.stream_id')
      .where('transfer_id', 'in', chunk)
      .where('streams.owner_node_id', '=', node.nodeId)
      .where('streams.owner_node_epoch', '=', node.nodeEpoch)
      .execute()
    for (const [toNodeId, group] of Map.groupBy(rows, (row) => row.to_node_id)) {
      const target = live.find((it) => it.nodeId === toNodeId)
      const state = target === undefined ? stateNumbers.failed : stateNumbers.done
      const streamIds = group.map((row) => row.stream_id)
      for (const ids of idChunks(streamIds)) {
        if (target !== undefined) await takeOver(tx, target, ids)
        await tx
          .updateTable('transfers')
          .set({ state, ended_at_ms: nowMs })
          .where('stream_id', 'in', ids)
          .where('state', '=', stateNumbers.pending)
          .execute()
      }
      for (const row of group) ended.push(transfer({ ...row, state, ended_at_ms: nowMs }))
    }
  }
  return ended.sort((a, b) => a.transferId - b.transferId)
}

function selectPending(db: Kysely<Schema>) {
  return db
    .selectFrom('transfers')
    .selectAll('transfers')
    .where('state', '=', (eb) => eb.lit(stateNumbers.pending))
    .orderBy('transfer_id')
}

function transfer(row: Selectable<TransfersTable>): Transfer {
  return {
    transferId: row.transfer_id,
    streamId: row.stream_id,
    toNodeId: row.to_node_id,
    state: states[row.state] ?? 'failed',
    requestedAtMs: row.requested_at_ms,
    endedAtMs: row.ended_at_ms,
  }
}
