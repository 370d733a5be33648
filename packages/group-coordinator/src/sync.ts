/** SyncGroup: the sync barrier. Assignments are opaque and in memory only, so the leader's word takes effect at once. */
import { armExpiryCheck, armSession } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { SyncEvent } from './events.ts'
import { type GroupState, never } from './group-state.ts'
import type { Member } from './member.ts'
import { memberErrorCode } from './membership.ts'
import { replyToSync, syncError, type Transition } from './transition.ts'

export function sync(t: Transition, event: SyncEvent): void {
  const { group } = t
  const errorCode = refusalOf(group, event)
  const member = group.members.get(event.memberId)
  if (errorCode !== groupErrorCodes.none || member === undefined) {
    replyToSync(t, event.requestToken, syncError(errorCode))
    return
  }
  group.pendingSync.delete(member.memberId)
  if (group.pendingSync.size === 0) group.syncDueMs = never
  if (group.phase === 'Stable') {
    answerSync(t, member, event.requestToken)
    return
  }
  if (member.syncToken !== null) replyToSync(t, member.syncToken, syncError(groupErrorCodes.rebalanceInProgress))
  member.syncToken = event.requestToken
  if (group.leaderId === member.memberId) assign(t, event)
}

function refusalOf(group: GroupState, event: SyncEvent): number {
  if (group.groupId === '') return groupErrorCodes.invalidGroupId
  if (group.deleting) return groupErrorCodes.coordinatorNotAvailable
  const memberError = memberErrorCode(group, event.memberId, event.groupInstanceId)
  if (memberError !== groupErrorCodes.none) return memberError
  if (event.generationId !== group.generationId) return groupErrorCodes.illegalGeneration
  if (differs(event.protocolType, group.protocolType) || differs(event.protocolName, group.protocolName)) {
    return groupErrorCodes.inconsistentGroupProtocol
  }
  return group.phase === 'PreparingRebalance' ? groupErrorCodes.rebalanceInProgress : groupErrorCodes.none
}

/** KIP-559; a version that does not say is believed. */
function differs(said: string | null, known: string | null): boolean {
  return said !== null && known !== null && said !== known
}

/** The leader has decided. Whom it forgot gets an empty assignment; whom it invented is ignored. */
function assign(t: Transition, event: SyncEvent): void {
  const { group, nowMs } = t
  const assignments = new Map(
    event.assignments.map(({ memberId, assignment }) => [memberId, new Uint8Array(assignment)]),
  )
  group.phase = 'Stable'
  for (const member of group.members.values()) {
    member.assignment = assignments.get(member.memberId) ?? new Uint8Array(0)
    if (member.syncToken === null) continue
    answerSync(t, member, member.syncToken)
    member.syncToken = null
  }
  armExpiryCheck(group, nowMs + group.settings.offsetsRetentionCheckIntervalMs)
}

/** A parked SyncGroup keeps its member alive; the session runs again from the answer on. */
function answerSync(t: Transition, member: Member, requestToken: number): void {
  const { group, nowMs } = t
  const { protocolType, protocolName } = group
  const { assignment } = member
  replyToSync(t, requestToken, { errorCode: groupErrorCodes.none, protocolType, protocolName, assignment })
  armSession(group, member, nowMs)
}
