/** One run of one node. A higher epoch of the same node fences every lower one. */
export interface NodeIdentity {
  readonly nodeId: number
  readonly nodeEpoch: number
}

export interface NodeRegistry {
  /** Registers a new epoch of the node (1 for a new node, else the last one + 1), unfenced, and returns it. */
  register(
    node: { nodeId: number; addresses: Record<string, string>; slots: number },
    nowMs: number,
  ): Promise<NodeIdentity>
  /** The system's id: a random UUID made when first asked for (or `preferred` when given then). Stable for ever after. */
  clusterId(preferred?: string): Promise<string>
  /**
   * Reserves `count` consecutive numbers of a durable counter and returns the first. Never given out twice, over any number of
   * nodes and restarts. Counters start at `1`.
   */
  reserve(counter: 'producerId' | 'objectId' | 'segmentId', count: number): Promise<number>
}
