/**
 * What is durable of a group: one log per group, in order; the last record of a key wins. Membership, generations
 * and assignments are not in it. The caller writes these values in Kafka's own schemas: `OffsetCommitKey`/`Value`,
 * and `GroupMetadataKey`/`Value` for the two about the group.
 */
export type GroupRecord = OffsetCommitRecord | OffsetTombstoneRecord | GroupMetadataRecord | GroupDeletedRecord

export interface OffsetCommitRecord {
  readonly kind: 'offsetCommit'
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** As the client sent it; -1 = none. Never invented: librdkafka orders by it. */
  readonly leaderEpoch: number
  readonly metadata: string
  readonly commitTimestampMs: number
  /** null = the broker's retention applies. */
  readonly expireTimestampMs: number | null
}

export interface OffsetTombstoneRecord {
  readonly kind: 'offsetTombstone'
  readonly groupId: string
  readonly topic: string
  readonly partition: number
}

/**
 * What the expiry of offsets needs after a restart (KIP-211): without it a consumer group that is stopped for an hour
 * would lose the offsets of partitions that were quiet for a week. Written with offsets only, and when it changes:
 * a group that commits nothing writes nothing.
 */
export interface GroupMetadataRecord {
  readonly kind: 'groupMetadata'
  readonly groupId: string
  readonly protocolType: string
  /** When the group became Empty; null = it has members, so it is Empty since it was replayed. Kafka: currentStateTimestamp. */
  readonly emptySinceMs: number | null
}

/** The group is gone with all its offsets, whatever was written before. */
export interface GroupDeletedRecord {
  readonly kind: 'groupDeleted'
  readonly groupId: string
}

/** Records to append together, in the order of their tokens; answered by `writeCompleted` or `writeFailed`. */
export interface GroupWrite {
  readonly writeToken: number
  readonly records: readonly GroupRecord[]
}
