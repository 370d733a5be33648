import { type Expression, expressionBuilder, type SqlBool } from 'kysely'
import type { NodeIdentity } from '../node-registry.ts'
import type { Schema } from './schema.ts'

/** Whose streams: those of a node, and those that no live node owns where `unowned` says so. */
export interface OwnedStreams {
  readonly node: NodeIdentity
  readonly unowned: boolean
}

/** A condition on rows of `streams`. */
export function isAmong({ node, unowned }: OwnedStreams): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'streams'>()
  const own = eb.and([
    eb('streams.owner_node_id', '=', node.nodeId),
    eb('streams.owner_node_epoch', '=', node.nodeEpoch),
  ])
  if (!unowned) return own
  const liveOwner = eb
    .selectFrom('nodes')
    .select('nodes.node_id')
    .whereRef('nodes.node_id', '=', 'streams.owner_node_id')
    .whereRef('nodes.node_epoch', '=', 'streams.owner_node_epoch')
    .where('nodes.fenced', '=', 0)
  return eb.or([own, eb.not(eb.exists(liveOwner))])
}
