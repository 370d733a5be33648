import type { NodeIdentity } from './node-registry.ts'

/** What one node at a time does for all. Time is the database's. */
export interface Leases {
  /**
   * Takes the lease, or extends it where the node has it; false when another live node has it. It ends `ttlMs` after the database did
   * this, or earlier: with `release`, or when its holder is fenced. A holder may count on it from when it asked.
   * @throws FencedError
   */
  acquire(name: string, node: NodeIdentity, ttlMs: number): Promise<boolean>
  /** Harmless where the node does not have it. */
  release(name: string, node: NodeIdentity): Promise<void>
  /** Who has it now. */
  holder(name: string): Promise<NodeIdentity | null>
}
