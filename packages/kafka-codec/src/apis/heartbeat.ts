import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { int16, int32, string } from '../field.ts'

/**
 * Keeps a member of a classic consumer group alive, and tells it of a rebalance.
 *
 * - v1 adds the throttle time.
 * - v3 adds the instance id of static members (KIP-345).
 */
export const heartbeat = api({
  key: 12,
  name: 'Heartbeat',
  versions: [0, 4],
  flexibleFrom: 4,
  request: {
    groupId: string(),
    generationId: int32(),
    memberId: string(),
    /** The unique identifier of the consumer instance provided by end user. */
    groupInstanceId: string({ versions: '3+', nullable: '3+', default: null }),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
  },
})

export type HeartbeatRequest = RequestOf<typeof heartbeat>
export type HeartbeatResponse = ResponseOf<typeof heartbeat>
