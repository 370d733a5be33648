import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, bytes, int16, int32, string } from '../field.ts'

/**
 * Hands the assignment computed by the leader of a classic consumer group to its members.
 *
 * - v1 adds the throttle time.
 * - v3 adds the instance id of static members (KIP-345).
 * - v5 adds the protocol type and name both ways; a broker refuses a request in which they differ from its own
 *   (KIP-559).
 */
export const syncGroup = api({
  key: 14,
  name: 'SyncGroup',
  versions: [0, 5],
  flexibleFrom: 4,
  request: {
    groupId: string(),
    generationId: int32(),
    memberId: string(),
    /** The unique identifier of the consumer instance provided by end user. */
    groupInstanceId: string({ versions: '3+', nullable: '3+', default: null }),
    protocolType: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
    protocolName: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
    assignments: array({
      memberId: string(),
      assignment: bytes(),
    }),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
    protocolType: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
    protocolName: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
    assignment: bytes(),
  },
})

export type SyncGroupRequest = RequestOf<typeof syncGroup>
export type SyncGroupResponse = ResponseOf<typeof syncGroup>
