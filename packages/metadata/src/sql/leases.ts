import type { Leases } from '../leases.ts'
import type { NodeIdentity } from '../node-registry.ts'
import type { SqlDatabase } from './database.ts'
import { requireCurrent } from './node-registry.ts'

export function sqlLeases(database: SqlDatabase): Leases {
  return {
    acquire: (name, node, ttlMs) =>
      database.write(
        `acquiring lease ${name}`,
        async (tx) => {
          await requireCurrent(tx, node)
          const held = await tx
            .selectFrom('leases')
            .leftJoin('nodes', (join) =>
              join
                .onRef('nodes.node_id', '=', 'leases.node_id')
                .onRef('nodes.node_epoch', '=', 'leases.node_epoch')
                .on('nodes.fenced', '=', 0),
            )
            .select(['leases.node_id', 'leases.node_epoch', 'nodes.node_id as live_node_id'])
            .select((eb) => eb(eb.ref('leases.expires_at_ms'), '-', database.nowMs()).as('left_ms'))
            .where('leases.name', '=', name)
            .executeTakeFirst()
          const isOwn = held?.node_id === node.nodeId && held.node_epoch === node.nodeEpoch
          const isHeld = held !== undefined && held.live_node_id !== null && Number(held.left_ms) > 0
          if (isHeld && !isOwn) return false
          await tx
            .insertInto('leases')
            .columns(['name', 'node_id', 'node_epoch', 'expires_at_ms'])
            .values((eb) => ({
              name,
              node_id: node.nodeId,
              node_epoch: node.nodeEpoch,
              expires_at_ms: eb(database.nowMs(), '+', ttlMs),
            }))
            .onConflict((conflict) =>
              conflict.column('name').doUpdateSet((eb) => ({
                node_id: eb.ref('excluded.node_id'),
                node_epoch: eb.ref('excluded.node_epoch'),
                expires_at_ms: eb.ref('excluded.expires_at_ms'),
              })),
            )
            .execute()
          return true
        },
        'harmless',
      ),

    release: (name, node) =>
      database.write(
        `releasing lease ${name}`,
        async (tx) => {
          await tx
            .deleteFrom('leases')
            .where('name', '=', name)
            .where('node_id', '=', node.nodeId)
            .where('node_epoch', '=', node.nodeEpoch)
            .execute()
        },
        'harmless',
      ),

    holder: (name) =>
      database.read(`looking up lease ${name}`, async (db): Promise<NodeIdentity | null> => {
        const row = await db
          .selectFrom('leases')
          .innerJoin('nodes', (join) =>
            join
              .onRef('nodes.node_id', '=', 'leases.node_id')
              .onRef('nodes.node_epoch', '=', 'leases.node_epoch')
              .on('nodes.fenced', '=', 0),
          )
          .select(['leases.node_id', 'leases.node_epoch'])
          .where('leases.name', '=', name)
          .where((eb) => eb(eb.ref('leases.expires_at_ms'), '>', database.nowMs()))
          .executeTakeFirst()
        return row === undefined ? null : { nodeId: row.node_id, nodeEpoch: row.node_epoch }
      }),
  }
}
