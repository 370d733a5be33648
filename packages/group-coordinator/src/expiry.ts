/**
 * Offsets expire, and a group that has neither members nor offsets goes. KIP-211: what is in use does not expire; the
 * clock of a group that was managed starts when its last member is gone, that of a simple one with each commit.
 */
import { consumerProtocolType, isSubscribed } from './consumer-subscription.ts'
import { armExpiryCheck } from './deadlines.ts'
import { type CommittedOffset, type GroupState, never } from './group-state.ts'
import type { OffsetTombstoneRecord } from './records.ts'
import { forget } from './replay.ts'
import type { Reply } from './replies.ts'
import { issueWrite, type Transition } from './transition.ts'

export function checkExpiry(t: Transition): void {
  const { group, nowMs } = t
  group.expiryCheckDueMs = never
  const soonestMs = nowMs + Math.max(1, group.settings.offsetsRetentionCheckIntervalMs)
  if (group.pendingWrites.size > 0) {
    // One of them may be a commit, newer than what would be judged here, or the end of the group.
    armExpiryCheck(group, soonestMs)
    return
  }
  // Replayed from a time when it had members: they have not come back, and it is empty since we noticed.
  if (group.phase === 'Empty') group.emptySinceMs ??= nowMs

  const { expired, remaining, nextDueMs } = judgeOffsets(group, nowMs)
  const isBare = group.phase === 'Empty' && remaining === 0
  if (isBare && group.pendingMembers.size === 0) {
    removeGroup(t, null)
    return
  }
  if (expired.length > 0) issueWrite(t, expired, null)
  if (isBare || nextDueMs !== never) armExpiryCheck(group, isBare ? soonestMs : Math.max(nextDueMs, soonestMs))
}

/** Deletes a group that has no members: at once if the log knows nothing of it, else when the log knows of its end. */
export function removeGroup(t: Transition, reply: Reply | null): void {
  const { group } = t
  if (group.isLogged) {
    group.deleting = true
    issueWrite(t, [{ kind: 'groupDeleted', groupId: group.groupId }], reply)
    return
  }
  forget(group)
  if (reply !== null) t.replies.push(reply)
}

interface Judgement {
  readonly expired: OffsetTombstoneRecord[]
  /** Offsets that stay. */
  readonly remaining: number
  /** When the first of those that can expire will; `never` if none can as things are. */
  readonly nextDueMs: number
}

function judgeOffsets(group: GroupState, nowMs: number): Judgement {
  const expired: OffsetTombstoneRecord[] = []
  let remaining = 0
  let nextDueMs = never
  for (const [topic, offsets] of group.offsets) {
    for (const [partition, committed] of offsets) {
      const dueMs = isSubscribed(group, topic) ? never : expiresAtMs(group, committed)
      if (dueMs <= nowMs) {
        expired.push({ kind: 'offsetTombstone', groupId: group.groupId, topic, partition })
      } else {
        remaining++
        nextDueMs = Math.min(nextDueMs, dueMs)
      }
    }
  }
  return { expired, remaining, nextDueMs }
}

/** `never` while the group is in use in a way that does not say which topics. */
function expiresAtMs(group: GroupState, { expireTimestampMs, commitTimestampMs }: CommittedOffset): number {
  const sinceMs = countsFromMs(group, commitTimestampMs)
  if (sinceMs === never) return never
  return expireTimestampMs ?? sinceMs + group.settings.offsetsRetentionMs
}

function countsFromMs(group: GroupState, commitTimestampMs: number): number {
  if (group.protocolType === null) return commitTimestampMs
  if (group.phase === 'Empty') return group.emptySinceMs ?? never
  const knowsTopics = group.phase === 'Stable' && group.protocolType === consumerProtocolType
  return knowsTopics ? commitTimestampMs : never
}
