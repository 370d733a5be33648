/** LeaveGroup: each member has its own result, and the group rebalances once however many leave (KIP-345). */
import { groupErrorCodes } from './error-codes.ts'
import type { LeaveEvent } from './events.ts'
import { memberErrorCode, removeMember } from './membership.ts'
import { maybeCompleteJoin, prepareRebalance } from './rebalance.ts'
import type { LeaveResponse } from './replies.ts'
import type { Transition } from './transition.ts'

export function leave(t: Transition, event: LeaveEvent): void {
  const response = refusalOf(t) ?? leaveEach(t, event)
  t.replies.push({ requestToken: event.requestToken, kind: 'leave', response })
}

function refusalOf({ group }: Transition): LeaveResponse | null {
  if (group.groupId === '') return { errorCode: groupErrorCodes.invalidGroupId, members: [] }
  if (group.deleting) return { errorCode: groupErrorCodes.coordinatorNotAvailable, members: [] }
  return null
}

function leaveEach(t: Transition, event: LeaveEvent): LeaveResponse {
  const { group } = t
  const sizeBefore = group.members.size
  const members = event.members.map(({ memberId, groupInstanceId }) => ({
    memberId,
    groupInstanceId,
    errorCode: leaveOne(t, memberId, groupInstanceId),
  }))
  const isSettled = group.phase === 'Stable' || group.phase === 'CompletingRebalance'
  if (isSettled && group.members.size < sizeBefore) prepareRebalance(t)
  else maybeCompleteJoin(t)
  return { errorCode: groupErrorCodes.none, members }
}

function leaveOne(t: Transition, memberId: string, groupInstanceId: string | null): number {
  const { group } = t
  // An administrator names a static member by its instance alone.
  const leavingId = memberId === '' && groupInstanceId !== null ? group.staticMemberIds.get(groupInstanceId) : memberId
  if (leavingId === undefined) return groupErrorCodes.unknownMemberId
  if (!group.pendingMembers.has(leavingId)) {
    const errorCode = memberErrorCode(group, leavingId, groupInstanceId)
    if (errorCode !== groupErrorCodes.none) return errorCode
  }
  removeMember(t, leavingId)
  return groupErrorCodes.none
}
