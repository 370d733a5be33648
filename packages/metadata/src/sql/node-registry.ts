import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { FencedError } from '../errors.ts'
import type { NodeIdentity, NodeRegistry } from '../node-registry.ts'
import { reserveNumbers } from './counters.ts'
import type { SqlDatabase } from './database.ts'
import type { Schema } from './schema.ts'

export function sqlNodeRegistry(database: SqlDatabase): NodeRegistry {
  return {
    register(node, nowMs) {
      return database.write(`registering node ${node.nodeId}`, async (tx) => {
        const last = await tx
          .selectFrom('nodes')
          .select('node_epoch')
          .where('node_id', '=', node.nodeId)
          .orderBy('node_epoch', 'desc')
          .limit(1)
          .executeTakeFirst()
        const nodeEpoch = (last?.node_epoch ?? 0) + 1
        await tx
          .updateTable('nodes')
          .set({ fenced: 1 })
          .where('node_id', '=', node.nodeId)
          .where('fenced', '=', 0)
          .execute()
        await tx
          .insertInto('nodes')
          .values({
            node_id: node.nodeId,
            node_epoch: nodeEpoch,
            fenced: 0,
            addresses: JSON.stringify(node.addresses),
            slots: node.slots,
            registered_at_ms: nowMs,
            wal_sequence: 0,
            wal_attempt: 0,
          })
          .execute()
        return { nodeId: node.nodeId, nodeEpoch }
      })
    },

    clusterId(preferred) {
      return database.write('reading the cluster id', async (tx) => {
        await tx
          .insertInto('facts')
          .values({ name: 'clusterId', value: preferred ?? randomUUID() })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .execute()
        const row = await tx
          .selectFrom('facts')
          .select('value')
          .where('name', '=', 'clusterId')
          .executeTakeFirstOrThrow()
        return row.value
      })
    },

    reserve(counter, count) {
      return database.writeOne(
        `reserving ${count} of ${counter}`,
        (db) => reserveNumbers(db, counter, count),
        'harmless',
      )
    },
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
