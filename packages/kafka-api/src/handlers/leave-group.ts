import type { LeaveResponse } from '@pico/group-coordinator'
import { type LeaveGroupRequest, leaveGroup, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * LeaveGroup 0-5 (kafka-compat 2.8). Before v3 one member leaves, and its error is that of the answer; since then many may, each with
 * an error of its own, also by their instance ids alone (KIP-345). v5's reason is not looked at.
 */

const firstWithMembers = 3

export function leaveGroupHandler({ groups }: Dependencies): Handler {
  return handler({
    api: leaveGroup,
    versions: [0, 5],
    async handle(request, { apiVersion }) {
      const members = membersOf(request, apiVersion)
      return respond(await groups.ask(request.groupId, { kind: 'leave', members }), apiVersion)
    },
    fail: (_, errorCode) => ({ throttleTimeMs: 0, errorCode, members: [] }),
  })
}

function membersOf({ memberId, members }: LeaveGroupRequest, apiVersion: number) {
  return apiVersion < firstWithMembers ? [{ memberId, groupInstanceId: null }] : members
}

function respond({ errorCode, members }: LeaveResponse, apiVersion: number): ResponseInput<typeof leaveGroup> {
  if (apiVersion >= firstWithMembers) return { throttleTimeMs: 0, errorCode, members: [...members] }
  return { throttleTimeMs: 0, errorCode: errorCode === 0 ? (members[0]?.errorCode ?? 0) : errorCode, members: [] }
}
