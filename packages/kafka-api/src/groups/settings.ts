import { defaultGroupSettings, type GroupSettings } from '@pico/group-coordinator'

export interface GroupHostSettings {
  /** The rules of the protocol, by Kafka's names. */
  readonly protocol: GroupSettings
  /** A group that has no members, and that nobody asked for during so long, is dropped from memory. Its row and its log stay. */
  readonly idleGroupMs: number
  /**
   * A snapshot is written when the log has grown by `snapshotGrowth` records per committed offset since the last one, and by so many:
   * loading a group never reads much more than that.
   */
  readonly snapshotRecordsMin: number
  readonly snapshotGrowth: number
  /** How often the rows of groups that are not in memory are looked through for offsets that have expired. */
  readonly sweepIntervalMs: number
  /** Requests to a group that is being loaded wait for so long; then they are COORDINATOR_LOAD_IN_PROGRESS. */
  readonly loadWaitMs: number
}

export const defaultGroupHostSettings: GroupHostSettings = {
  protocol: defaultGroupSettings,
  idleGroupMs: 60_000,
  snapshotRecordsMin: 1000,
  snapshotGrowth: 4,
  sweepIntervalMs: defaultGroupSettings.offsetsRetentionCheckIntervalMs,
  loadWaitMs: 5_000,
}
