import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Names the broker that coordinates a group, a transactional id or a share group.
 *
 * - v1 adds the type of the key, the throttle time and error messages.
 * - v4 asks for several keys at once (KIP-699).
 * - v5 adds the error TRANSACTION_ABORTABLE (KIP-890).
 * - v6 adds share groups, key type 2, whose key is `groupId:topicId:partition` (KIP-932).
 */
export const findCoordinator = api({
  key: 10,
  name: 'FindCoordinator',
  versions: [0, 6],
  flexibleFrom: 3,
  request: {
    key: string({ versions: '0-3' }),
    keyType: int8({ versions: '1+', default: 0 }),
    coordinatorKeys: array(string(), { versions: '4+' }),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16({ versions: '0-3' }),
    errorMessage: string({ versions: '1-3', nullable: '1-3', ignorable: true }),
    nodeId: int32({ versions: '0-3' }),
    host: string({ versions: '0-3' }),
    port: int32({ versions: '0-3' }),
    coordinators: array(
      {
        key: string(),
        nodeId: int32(),
        host: string(),
        port: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '4+', ignorable: true }),
      },
      { versions: '4+' },
    ),
  },
})

export type FindCoordinatorRequest = RequestOf<typeof findCoordinator>
export type FindCoordinatorResponse = ResponseOf<typeof findCoordinator>
