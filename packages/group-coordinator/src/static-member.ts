/**
 * A static member that comes back (KIP-345): same instance id, no member id. It takes the place of the old member id,
 * which is fenced from here on, and costs no rebalance as long as nothing changes for the others.
 */
import { strict as assert } from 'node:assert'
import { armSession } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { JoinEvent } from './events.ts'
import type { GroupState } from './group-state.ts'
import type { Member } from './member.ts'
import { answerParked, parkJoin, selectProtocol, updateMember } from './membership.ts'
import { currentGeneration, joinedMembers, prepareRebalance } from './rebalance.ts'
import type { JoinResponse } from './replies.ts'
import { replyToJoin, type Transition } from './transition.ts'

export function replaceStaticMember(t: Transition, event: JoinEvent, oldMemberId: string, memberId: string): void {
  const { group } = t
  const previousLeaderId = group.leaderId ?? ''
  const member = takePlaceOf(t, oldMemberId, memberId)
  updateMember(group, member, event)
  armSession(group, member, t.nowMs)

  if (group.phase === 'Stable' && selectProtocol(group) === group.protocolName) {
    replyToJoin(t, event.requestToken, answerWithoutRebalance(group, member, event, previousLeaderId))
    return
  }
  parkJoin(t, member, event.requestToken)
  // Completing: the leader may have been told the old member id already, and would assign to nobody.
  if (group.phase !== 'PreparingRebalance') prepareRebalance(t)
}

function takePlaceOf(t: Transition, oldMemberId: string, memberId: string): Member {
  const { group } = t
  const old = group.members.get(oldMemberId)
  assert(old !== undefined && old.groupInstanceId !== null, 'every static id names a member')
  answerParked(t, old, groupErrorCodes.fencedInstanceId, oldMemberId)
  const member: Member = { ...old, memberId, isNew: false }
  group.members.delete(oldMemberId)
  group.members.set(memberId, member)
  group.staticMemberIds.set(old.groupInstanceId, memberId)
  if (group.leaderId === oldMemberId) group.leaderId = memberId
  if (group.pendingSync.delete(oldMemberId)) group.pendingSync.add(memberId)
  return member
}

/**
 * A stable group would not hand out a new assignment, so nobody may compute one. A leader that understands it is told
 * to skip it and keeps watching the topics (KIP-814); before v9 it is told of a leader that no longer exists.
 */
function answerWithoutRebalance(
  group: GroupState,
  member: Member,
  event: JoinEvent,
  previousLeaderId: string,
): JoinResponse {
  const current = currentGeneration(group, member.memberId)
  if (!event.supportsSkippingAssignment) return { ...current, leader: previousLeaderId, members: [] }
  const skipAssignment = group.leaderId === member.memberId
  return { ...current, skipAssignment, members: skipAssignment ? joinedMembers(group) : [] }
}
