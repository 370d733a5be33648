import type { SyncResponse } from '@pico/group-coordinator'
import { kafkaErrors, type ResponseInput, syncGroup } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { answeredInTurn } from '../groups/answered-in-turn.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * SyncGroup 0-5 (kafka-compat 2.8): answered when the leader has said who gets what; until then nothing else of the connection is
 * looked at, as in Kafka. v3: static members (KIP-345). v5: the protocol, both ways (KIP-559): a request must name it.
 */

const firstWithProtocol = 5

export function syncGroupHandler({ groups }: Dependencies): Handler {
  return handler({
    api: syncGroup,
    versions: [0, 5],
    handle(request, { apiVersion }) {
      const { groupId, memberId, groupInstanceId, generationId, protocolType, protocolName, assignments } = request
      if (apiVersion >= firstWithProtocol && (protocolType === null || protocolName === null)) {
        return refused(kafkaErrors.inconsistentGroupProtocol.code)
      }
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
    fail: (_, errorCode) => refused(errorCode),
  })
}

function respond(response: SyncResponse): ResponseInput<typeof syncGroup> {
  return { throttleTimeMs: 0, ...response }
}

function refused(errorCode: number): ResponseInput<typeof syncGroup> {
  return respond({ errorCode, protocolType: null, protocolName: null, assignment: noBytes })
}

const noBytes = new Uint8Array(0)
