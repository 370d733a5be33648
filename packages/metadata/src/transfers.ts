import type { NodeIdentity } from './node-registry.ts'

/** A stream on its way to another node, because somebody asked for it. */
export interface Transfer {
  readonly transferId: number
  readonly streamId: number
  readonly toNodeId: number
  /** `failed`: the target was not there to take it, and the stream stayed where it was. */
  readonly state: 'pending' | 'done' | 'failed'
  readonly requestedAtMs: number
  readonly endedAtMs: number | null
}

export type TransferRefusal = 'no-stream' | 'no-node' | 'already-there'

/**
 * Moves streams from node to node, by records in SQL alone: one is requested; the owner finds it, stops appending, makes everything
 * durable, packs or adopts what the stream has in its WAL, and hands over; the target finds itself the owner. Every step may be
 * repeated by whoever is there: an owner that dies on the way is fenced, and whoever places the stream then gives it to the target.
 */
export interface Transfers {
  /** A transfer that is pending is turned to the new target. A stream that nobody has goes there at once. */
  request(streamId: number, toNodeId: number, nowMs: number): Promise<Transfer | TransferRefusal>
  /** Null when there never was one, the stream has been deleted, or it ended long ago. */
  get(transferId: number): Promise<Transfer | null>
  /** Everybody's, by id, after `afterTransferId`. */
  pending(page: { afterTransferId: number; limit: number }): Promise<Transfer[]>
  /** Of streams that this node epoch owns, lowest ids first: what it has to do. */
  pendingOf(node: NodeIdentity, limit: number): Promise<Transfer[]>
  /**
   * Ends transfers of streams that `node` owns and whose entries are all in extents (invariant B): the target's current epoch owns
   * them from now on. Those whose target is not live have failed. Those that are over, or of streams that are not the node's, are
   * left out. @throws FencedError
   */
  handOver(node: NodeIdentity, transferIds: readonly number[], nowMs: number): Promise<Transfer[]>
  /** Forgets transfers that ended before. Returns how many. */
  forget(endedBeforeMs: number): Promise<number>
}
