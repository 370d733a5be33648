import { heartbeat } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/* Heartbeat 0-4 (kafka-compat 2.8). v3: static members (KIP-345). */

export function heartbeatHandler({ groups }: Dependencies): Handler {
  return handler({
    api: heartbeat,
    versions: [0, 4],
    async handle({ groupId, memberId, groupInstanceId, generationId }) {
      const { errorCode } = await groups.ask(groupId, { kind: 'heartbeat', memberId, groupInstanceId, generationId })
      return { throttleTimeMs: 0, errorCode }
    },
    fail: (_, errorCode) => ({ throttleTimeMs: 0, errorCode }),
  })
}
