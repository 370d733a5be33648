import { randomUUID } from 'node:crypto'
import type { JoinResponse } from '@pico/group-coordinator'
import { joinGroup, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { answeredInTurn } from '../groups/answered-in-turn.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * JoinGroup 0-9 (kafka-compat 2.8): answered when the group's members are in, and until then nothing else of the connection is looked
 * at, as in Kafka: a heartbeat sent behind it is judged by the new generation.
 * v0 has no rebalance timeout: the session's counts. v4: a member without an id is told one first (KIP-394). v5: static members
 * (KIP-345). v7: the type of the protocol, and null for the name of none. v8's reason is not looked at. v9: skipped assignment (KIP-814).
 */

const firstWithKnownMemberIds = 4
const firstWithNullProtocol = 7
const firstWithSkipping = 9

export function joinGroupHandler({ groups }: Dependencies): Handler {
  return handler({
    api: joinGroup,
    versions: [0, 9],
    handle(request, { apiVersion, clientId, client }) {
      const { groupId, memberId, groupInstanceId, protocolType, protocols, sessionTimeoutMs, rebalanceTimeoutMs } =
        request
      const answer = groups.ask(groupId, {
        kind: 'join',
        memberId,
        groupInstanceId,
        freshUuid: randomUUID(),
        clientId: clientId ?? '',
        clientHost: client.host,
        sessionTimeoutMs,
        rebalanceTimeoutMs,
        protocolType,
        protocols,
        requireKnownMemberId: apiVersion >= firstWithKnownMemberIds,
        supportsSkippingAssignment: apiVersion >= firstWithSkipping,
      })
      return answeredInTurn(answer.then((response) => respond(response, apiVersion)))
    },
    fail: ({ memberId }, errorCode, { apiVersion }) => respond({ ...failed, errorCode, memberId }, apiVersion),
  })
}

const failed = {
  generationId: -1,
  protocolType: null,
  protocolName: null,
  leader: '',
  skipAssignment: false,
  members: [],
} as const

function respond(response: JoinResponse, apiVersion: number): ResponseInput<typeof joinGroup> {
  const { members, protocolName } = response
  return {
    ...response,
    throttleTimeMs: 0,
    protocolName: apiVersion < firstWithNullProtocol ? (protocolName ?? '') : protocolName,
    members: members.map(({ memberId, groupInstanceId, metadata }) => ({ memberId, groupInstanceId, metadata })),
  }
}
