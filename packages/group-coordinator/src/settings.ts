/** Plain data, the same for every group of a coordinator. Defaults are Kafka's, under Kafka's broker settings. */
export interface GroupSettings {
  /** How long an empty group waits for more members after the first join (`group.initial.rebalance.delay.ms`). */
  readonly groupInitialRebalanceDelayMs: number
  readonly groupMinSessionTimeoutMs: number
  readonly groupMaxSessionTimeoutMs: number
  /** Members of one group (`group.max.size`). */
  readonly groupMaxSize: number
  /** Member ids given out by MEMBER_ID_REQUIRED and not yet used: bounds what joins without a second step can hold. */
  readonly groupMaxPendingMembers: number
  /** A joining member that has no answer yet cannot heartbeat; it is given up after this long. Kafka: fixed, 5 min. */
  readonly newMemberJoinTimeoutMs: number
  /** UTF-16 units of the metadata string of one committed offset (`offset.metadata.max.bytes`: Kafka counts chars too). */
  readonly offsetMetadataMaxBytes: number
  readonly offsetsRetentionMs: number
  /** Shortest time between two looks for expired offsets in one group (`offsets.retention.check.interval.ms`). */
  readonly offsetsRetentionCheckIntervalMs: number
}

const minuteMs = 60_000

export const defaultGroupSettings: GroupSettings = {
  groupInitialRebalanceDelayMs: 3_000,
  groupMinSessionTimeoutMs: 6_000,
  groupMaxSessionTimeoutMs: 30 * minuteMs,
  groupMaxSize: 2 ** 31 - 1,
  groupMaxPendingMembers: 10_000,
  newMemberJoinTimeoutMs: 5 * minuteMs,
  offsetMetadataMaxBytes: 4096,
  offsetsRetentionMs: 7 * 24 * 60 * minuteMs,
  offsetsRetentionCheckIntervalMs: 10 * minuteMs,
}
