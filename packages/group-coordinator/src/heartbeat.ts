/** Heartbeat. The hot path of an idle cluster: no loop, and nothing allocated but the answer. */
import { armSession } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { HeartbeatEvent } from './events.ts'
import { memberErrorCode } from './membership.ts'
import type { Transition } from './transition.ts'

export function heartbeat(t: Transition, event: HeartbeatEvent): void {
  const response = { errorCode: beat(t, event) }
  t.replies.push({ requestToken: event.requestToken, kind: 'heartbeat', response })
}

function beat(t: Transition, event: HeartbeatEvent): number {
  const { group } = t
  if (group.groupId === '') return groupErrorCodes.invalidGroupId
  if (group.deleting) return groupErrorCodes.coordinatorNotAvailable
  const memberError = memberErrorCode(group, event.memberId, event.groupInstanceId)
  const member = group.members.get(event.memberId)
  if (memberError !== groupErrorCodes.none || member === undefined) return memberError
  if (event.generationId !== group.generationId) return groupErrorCodes.illegalGeneration
  armSession(group, member, t.nowMs)
  // Told of the rebalance it is still alive: it has the rebalance timeout, not its session's, to come back (KIP-62).
  return group.phase === 'PreparingRebalance' ? groupErrorCodes.rebalanceInProgress : groupErrorCodes.none
}
