/**
 * JoinGroup. Behaviour: Kafka 4's classic groups; every version's differences are flags of the event.
 * Left out: nothing of the classic protocol; the consumer protocol of KIP-848 is not served.
 */
import { armExpiryCheck, armPending, armSession } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { JoinEvent } from './events.ts'
import type { GroupState } from './group-state.ts'
import { hasProtocols, type Member, newMember } from './member.ts'
import { addMember, memberErrorCode, parkJoin, removeMember, supportsProtocols, updateMember } from './membership.ts'
import { currentGeneration, maybeCompleteJoin, prepareRebalance } from './rebalance.ts'
import { replaceStaticMember } from './static-member.ts'
import { joinError, replyToJoin, type Transition } from './transition.ts'

export function join(t: Transition, event: JoinEvent): void {
  const { group } = t
  const refused = refusalOf(group, event)
  if (refused !== groupErrorCodes.none) {
    // Kafka names no member when a group is full, so that the client forgets the id it had.
    const memberId = refused === groupErrorCodes.groupMaxSizeReached ? '' : event.memberId
    if (refused === groupErrorCodes.groupMaxSizeReached) removeMember(t, event.memberId)
    replyToJoin(t, event.requestToken, joinError(refused, memberId))
  } else if (event.memberId === '') {
    joinNewMember(t, event)
  } else if (group.pendingMembers.has(event.memberId)) {
    joinPendingMember(t, event)
  } else {
    joinKnownMember(t, event)
  }
  maybeCompleteJoin(t)
}

function refusalOf(group: GroupState, event: JoinEvent): number {
  const { settings } = group
  const { sessionTimeoutMs } = event
  if (group.groupId === '') return groupErrorCodes.invalidGroupId
  if (sessionTimeoutMs < settings.groupMinSessionTimeoutMs || sessionTimeoutMs > settings.groupMaxSessionTimeoutMs) {
    return groupErrorCodes.invalidSessionTimeout
  }
  if (group.deleting) return groupErrorCodes.coordinatorNotAvailable
  if (group.phase === 'Dead' && event.memberId !== '') return groupErrorCodes.unknownMemberId
  if (!hasRoomFor(group, event.memberId)) return groupErrorCodes.groupMaxSizeReached
  if (!supportsProtocols(group, event.protocolType, event.protocols)) return groupErrorCodes.inconsistentGroupProtocol
  return groupErrorCodes.none
}

/**
 * While a group rebalances, those that have joined count, not those that were there: after its size has been lowered
 * the last to come back are the ones to go (KIP-389).
 */
function hasRoomFor(group: GroupState, memberId: string): boolean {
  const { groupMaxSize } = group.settings
  const member = group.members.get(memberId)
  switch (group.phase) {
    case 'Dead':
    case 'Empty':
      return true
    case 'PreparingRebalance':
      return (member !== undefined && member.joinToken !== null) || group.parkedJoins < groupMaxSize
    case 'CompletingRebalance':
    case 'Stable':
      return member !== undefined || group.members.size < groupMaxSize
  }
}

function joinNewMember(t: Transition, event: JoinEvent): void {
  const { group } = t
  const { groupInstanceId } = event
  if (group.phase === 'Dead') {
    group.phase = 'Empty'
    group.emptySinceMs = t.nowMs
    // It may come to nothing: a reserved id that nobody uses must not leave a group behind.
    armExpiryCheck(group, t.nowMs + group.settings.offsetsRetentionCheckIntervalMs)
  }
  const memberId = `${groupInstanceId ?? event.clientId}-${event.freshUuid}`
  const replaced = groupInstanceId === null ? undefined : group.staticMemberIds.get(groupInstanceId)
  if (replaced !== undefined) replaceStaticMember(t, event, replaced, memberId)
  else if (groupInstanceId === null && event.requireKnownMemberId) reserveMemberId(t, event, memberId)
  else joinFirstTime(t, event, memberId)
}

/**
 * The id is only reserved: a client that gives up now and starts over leaves no member behind (KIP-394).
 * The group waits for it as for a member, until it lapses with the session timeout.
 */
function reserveMemberId(t: Transition, event: JoinEvent, memberId: string): void {
  const { group, nowMs } = t
  if (group.pendingMembers.size >= group.settings.groupMaxPendingMembers) {
    replyToJoin(t, event.requestToken, joinError(groupErrorCodes.groupMaxSizeReached, ''))
    return
  }
  armPending(group, memberId, nowMs + event.sessionTimeoutMs)
  replyToJoin(t, event.requestToken, joinError(groupErrorCodes.memberIdRequired, memberId))
}

function joinPendingMember(t: Transition, event: JoinEvent): void {
  if (event.groupInstanceId === null) {
    joinFirstTime(t, event, event.memberId)
    return
  }
  // A reserved id is never a static member's: whoever says so has mixed up two clients. (Kafka fails with an exception.)
  const errorCode = memberErrorCode(t.group, event.memberId, event.groupInstanceId)
  replyToJoin(t, event.requestToken, joinError(errorCode, event.memberId))
}

function joinFirstTime(t: Transition, event: JoinEvent, memberId: string): void {
  const { group } = t
  if (group.initialJoin !== null) group.initialJoin.newMemberAdded = true
  const member = newMember(event, memberId)
  addMember(group, member, event.protocolType)
  parkJoin(t, member, event.requestToken)
  // Until it is answered it cannot heartbeat, and its connection is not looked at: only this bounds how long it counts.
  armSession(group, member, t.nowMs, group.settings.newMemberJoinTimeoutMs)
  if (group.phase !== 'PreparingRebalance') prepareRebalance(t)
}

function joinKnownMember(t: Transition, event: JoinEvent): void {
  const { group } = t
  const errorCode = memberErrorCode(group, event.memberId, event.groupInstanceId)
  const member = group.members.get(event.memberId)
  if (errorCode !== groupErrorCodes.none || member === undefined) {
    replyToJoin(t, event.requestToken, joinError(errorCode, event.memberId))
  } else if (startsRebalance(group, member, event)) {
    updateMember(group, member, event)
    parkJoin(t, member, event.requestToken)
    if (group.phase !== 'PreparingRebalance') prepareRebalance(t)
  } else {
    replyToJoin(t, event.requestToken, currentGeneration(group, member.memberId))
  }
}

/**
 * A member that joins again with nothing new has only missed an answer. Not the leader of a stable group: it may have
 * seen partitions come or go, which does not show in its metadata, so its word is enough.
 */
function startsRebalance(group: GroupState, member: Member, event: JoinEvent): boolean {
  if (group.phase === 'PreparingRebalance') return true
  if (group.phase === 'Stable' && group.leaderId === member.memberId) return true
  return !hasProtocols(member, event.protocols)
}
