import type { LeaderEpochStart } from '@pico/metadata'

export interface EpochEnd {
  readonly leaderEpoch: number
  readonly endOffset: number
}

/**
 * Where a leader epoch ends (OffsetForLeaderEpoch; Kafka's LeaderEpochFileCache.endOffsetFor): the largest known epoch at or below
 * the one asked for, and the start of the next higher one. (-1, -1) means that nothing can be said.
 */
export function endOfEpoch(asked: number, current: EpochEnd, history: readonly LeaderEpochStart[]): EpochEnd {
  if (asked === current.leaderEpoch) return current
  if (asked < 0 || asked > current.leaderEpoch) return { leaderEpoch: -1, endOffset: -1 }
  const known = history.findLast((epoch) => epoch.leaderEpoch <= asked)
  const next = history.find((epoch) => epoch.leaderEpoch > asked)
  if (next === undefined) return { leaderEpoch: -1, endOffset: -1 }
  // Older than all we know: the epoch itself, and where the first known one began.
  return { leaderEpoch: known?.leaderEpoch ?? asked, endOffset: next.startOffset }
}
