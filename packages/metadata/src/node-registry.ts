/** One run of one node. A higher epoch of the same node fences every lower one. */
export interface NodeIdentity {
  readonly nodeId: number
  readonly nodeEpoch: number
}

/** A node as its latest run registered it. */
export interface NodeRecord extends NodeIdentity {
  readonly addresses: Readonly<Record<string, string>>
  /** How much it takes on, beside others: a node with twice the slots gets twice the streams, one with none gets none. */
  readonly slots: number
  readonly isFenced: boolean
  /** Since it last said that it is alive, by the database's clock. */
  readonly silentMs: number
}

export interface NodeRegistry {
  /** Registers a new epoch of the node (1 for a new node, else the last one + 1), unfenced, and returns it. */
  register(
    node: { nodeId: number; addresses: Record<string, string>; slots: number },
    nowMs: number,
  ): Promise<NodeIdentity>
  /** Says where the node is reached, where that was not known yet when it registered. @throws FencedError */
  setAddresses(node: NodeIdentity, addresses: Record<string, string>): Promise<void>
  /**
   * Says that the node is alive, now, by the database's clock. As the answer takes its time, the node may count on no more than its
   * time to live from when it asked. @throws FencedError
   */
  heartbeat(node: NodeIdentity): Promise<void>
  /** Every node's latest epoch, by id. */
  list(): Promise<NodeRecord[]>
  /** Fences nodes that have been silent for longer, by the database's clock. Returns those that were not fenced before. */
  fenceSilent(ttlMs: number): Promise<NodeIdentity[]>
  /** Fences that epoch: it commits nothing from then on. May be repeated. */
  fence(node: NodeIdentity): Promise<void>
  /** Of the node's latest epoch. False when there is no such node. */
  setSlots(nodeId: number, slots: number): Promise<boolean>
  /** The system's id: a random UUID made when first asked for (or `preferred` when given then). Stable for ever after. */
  clusterId(preferred?: string): Promise<string>
  /**
   * Reserves `count` consecutive numbers of a durable counter and returns the first. Never given out twice, over any number of
   * nodes and restarts. Counters start at `1`.
   */
  reserve(counter: 'producerId' | 'objectId' | 'segmentId', count: number): Promise<number>
}
