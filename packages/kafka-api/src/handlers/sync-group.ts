import type { SyncResponse } from '@pico/group-coordinator'
import { type ResponseInput, syncGroup } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { answeredInTurn } from '../groups/answered-in-turn.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * SyncGroup 0-5 (kafka-compat 2.8): answered when the leader has said who gets what; until then nothing else of the connection is
 * looked at, as in Kafka. v3: static members (KIP-345). v5: the protocol, both ways (KIP-559).
 */

export function syncGroupHandler({ groups }: Dependencies): Handler {
  return handler({
    api: syncGroup,
    versions: [0, 5],
    handle({ groupId, memberId, groupInstanceId, generationId, protocolType, protocolName, assignments }) {
      const answer = groups.ask(groupId, {
        kind: 'sync',
        memberId,
        groupInstanceId,
        generationId,
        protocolType,
        protocolName,
        assignments,
      })
      return answeredInTurn(answer.then(respond))
    },
    fail: (_, errorCode) =>
      respond({ errorCode, protocolType: null, protocolName: null, assignment: new Uint8Array(0) }),
  })
}

function respond(response: SyncResponse): ResponseInput<typeof syncGroup> {
  return { throttleTimeMs: 0, ...response }
}
