/** What the database knows of all nodes and their streams, for the eyes of an operator: roles of Metadata (@pico/metadata). */
export interface Directory {
  readonly nodes: {
    /** Every node's latest run, by id. */
    list(): Promise<readonly KnownNode[]>
    /** False when there is no such node. */
    setSlots(nodeId: number, slots: number): Promise<boolean>
  }
  readonly streams: {
    /** Unknown ones are left out, as below. */
    byName(names: readonly string[]): Promise<readonly KnownStream[]>
    byStreamId(streamIds: readonly number[]): Promise<readonly KnownStream[]>
    count(): Promise<number>
    /** Nodes with none are left out. */
    ownedCounts(): Promise<readonly { readonly nodeId: number; readonly streams: number }[]>
  }
  readonly transfers: {
    request(
      streamId: number,
      toNodeId: number,
      nowMs: number,
    ): Promise<KnownTransfer | 'no-stream' | 'no-node' | 'already-there'>
    /** Null when it was forgotten. */
    get(transferId: number): Promise<KnownTransfer | null>
    /** By id, after `afterTransferId`. */
    pending(page: { afterTransferId: number; limit: number }): Promise<readonly KnownTransfer[]>
  }
  readonly leases: {
    holder(name: string): Promise<{ readonly nodeId: number } | null>
  }
  readonly log: {
    totals(): Promise<{ readonly objects: number; readonly lengthBytes: number; readonly doomed: number }>
  }
}

export interface KnownNode {
  readonly nodeId: number
  readonly nodeEpoch: number
  /** `http`: a URL, `kafka`: host and port. */
  readonly addresses: Readonly<Record<string, string>>
  readonly slots: number
  readonly isFenced: boolean
  readonly silentMs: number
}

export interface KnownStream {
  readonly streamId: number
  readonly name: string
  readonly topic: string | null
  readonly contentType: string
  readonly config: Readonly<Record<string, string>>
  readonly createdAtMs: number
  readonly life: 'creating' | 'live' | 'gone'
  readonly isClosed: boolean
  /** Where `idleTtlMs` is not null, the owner may know of a later end. */
  readonly expiresAtMs: number | null
  readonly idleTtlMs: number | null
  /** Node that has it, or had it last. */
  readonly owner: { readonly nodeId: number } | null
  readonly leaderEpoch: number
  readonly startOffset: number
  /** Its owner may have more in its write-ahead log. */
  readonly packedOffset: number
  readonly packedBytes: number
}

export interface KnownTransfer {
  readonly transferId: number
  readonly streamId: number
  readonly toNodeId: number
  readonly state: 'pending' | 'done' | 'failed'
  readonly requestedAtMs: number
  readonly endedAtMs: number | null
}
