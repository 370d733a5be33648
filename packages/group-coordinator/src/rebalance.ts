/**
 * The join phase: how it starts, what ends it, what comes out. KIP-134 (initial delay), KIP-62 (who is waited for),
 * KIP-394 (pending members are waited for too), KIP-345 (static members are not thrown out for being late).
 */
import { subscribedTopics } from './consumer-subscription.ts'
import { armExpiryCheck, armJoin, armSession, armSync } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import { recordMetadataIfChanged } from './group-metadata.ts'
import { type GroupState, never } from './group-state.ts'
import { type Member, metadataFor } from './member.ts'
import { rebalanceTimeoutMs, removeMember, selectProtocol, takeJoin } from './membership.ts'
import type { JoinedMember, JoinResponse } from './replies.ts'
import { replyToJoin, replyToSync, syncError, type Transition } from './transition.ts'

/** Everybody must join again; parked SyncGroups are told so. */
export function prepareRebalance(t: Transition): void {
  const { group, nowMs } = t
  if (group.phase === 'CompletingRebalance') refuseParkedSyncs(t)
  group.pendingSync.clear()
  group.syncDueMs = never
  const wasEmpty = group.phase === 'Empty'
  group.phase = 'PreparingRebalance'
  group.emptySinceMs = null
  if (wasEmpty) startInitialJoin(t)
  else if (!maybeCompleteJoin(t)) armJoin(group, nowMs + rebalanceTimeoutMs(group))
}

/** Opens the join barrier if nobody is missing. The initial delay of a group that was empty is never cut short. */
export function maybeCompleteJoin(t: Transition): boolean {
  const { group } = t
  const allJoined = group.parkedJoins === group.members.size && group.pendingMembers.size === 0
  if (group.phase !== 'PreparingRebalance' || group.initialJoin !== null || !allJoined) return false
  completeJoin(t)
  return true
}

/**
 * The initial delay is over. If members came meanwhile it runs once more, for as long as the rebalance timeout of the
 * first member allows: a deployment that starts hundreds of members should make one generation, not hundreds.
 */
export function endInitialDelay(t: Transition): void {
  const { group, nowMs } = t
  const { initialJoin } = group
  if (initialJoin?.newMemberAdded && initialJoin.remainingMs > 0) {
    const delayMs = Math.min(group.settings.groupInitialRebalanceDelayMs, initialJoin.remainingMs)
    group.initialJoin = { remainingMs: initialJoin.remainingMs - delayMs, newMemberAdded: false }
    armJoin(group, nowMs + delayMs)
  } else {
    completeJoin(t)
  }
}

/** Ends the join phase with whoever is there. */
export function completeJoin(t: Transition): void {
  const { group, nowMs } = t
  group.joinDueMs = never
  group.initialJoin = null
  for (const member of [...group.members.values()]) {
    if (member.joinToken === null && member.groupInstanceId === null) removeMember(t, member.memberId)
  }
  if (group.members.size > 0 && group.parkedJoins === 0) {
    // Static members alone, none of them back: wait on, until one comes or their sessions end.
    armJoin(group, nowMs + Math.max(1, rebalanceTimeoutMs(group)))
    return
  }
  electLeader(group)
  group.generationId++
  group.pendingSync.clear()
  if (group.members.size === 0) becomeEmpty(t)
  else startGeneration(t)
}

/** What a member is told of the current generation. */
export function currentGeneration(group: GroupState, memberId: string): JoinResponse {
  return {
    errorCode: groupErrorCodes.none,
    memberId,
    generationId: group.generationId,
    protocolType: group.protocolType,
    protocolName: group.protocolName,
    leader: group.leaderId ?? '',
    skipAssignment: false,
    members: group.leaderId === memberId ? joinedMembers(group) : [],
  }
}

export function joinedMembers(group: GroupState): JoinedMember[] {
  return [...group.members.values()].map((member) => ({
    memberId: member.memberId,
    groupInstanceId: member.groupInstanceId,
    metadata: metadataFor(member, group.protocolName),
  }))
}

function startInitialJoin(t: Transition): void {
  const { group, nowMs } = t
  const delayMs = group.settings.groupInitialRebalanceDelayMs
  if (delayMs === 0) {
    completeJoin(t)
    return
  }
  group.initialJoin = { remainingMs: Math.max(rebalanceTimeoutMs(group) - delayMs, 0), newMemberAdded: false }
  armJoin(group, nowMs + delayMs)
}

function startGeneration(t: Transition): void {
  const { group, nowMs } = t
  group.protocolName = selectProtocol(group)
  group.phase = 'CompletingRebalance'
  group.subscribedTopics = subscribedTopics(group)
  for (const member of group.members.values()) {
    answerJoin(t, member)
    group.pendingSync.add(member.memberId)
  }
  armSync(group, nowMs + rebalanceTimeoutMs(group))
  recordMetadataIfChanged(t)
}

/** A session restarts when its member is told something; for a static member that is late, when the others are told. */
function answerJoin(t: Transition, member: Member): void {
  const token = takeJoin(t.group, member)
  if (token !== null) replyToJoin(t, token, currentGeneration(t.group, member.memberId))
  armSession(t.group, member, t.nowMs)
  member.isNew = false
}

function becomeEmpty(t: Transition): void {
  const { group, nowMs } = t
  group.phase = 'Empty'
  group.protocolName = null
  group.subscribedTopics = null
  group.emptySinceMs = nowMs
  armExpiryCheck(group, nowMs + group.settings.offsetsRetentionCheckIntervalMs)
  recordMetadataIfChanged(t)
}

/** A leader that has not come back is replaced by the first member that has. */
function electLeader(group: GroupState): void {
  const leader = group.leaderId === null ? undefined : group.members.get(group.leaderId)
  if (leader !== undefined && leader.joinToken !== null) return
  for (const member of group.members.values()) {
    if (member.joinToken !== null) {
      group.leaderId = member.memberId
      return
    }
  }
}

function refuseParkedSyncs(t: Transition): void {
  for (const member of t.group.members.values()) {
    member.assignment = new Uint8Array(0)
    if (member.syncToken === null) continue
    replyToSync(t, member.syncToken, syncError(groupErrorCodes.rebalanceInProgress))
    member.syncToken = null
    armSession(t.group, member, t.nowMs)
  }
}
