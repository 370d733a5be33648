import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Leaves a classic consumer group at once, without waiting for the session to time out.
 *
 * - v1 adds the throttle time.
 * - v3 lets several members leave at once, by instance id or member id: `members` takes the place of `memberId`
 *   (KIP-345).
 * - v5 adds the reason for leaving (KIP-800).
 */
export const leaveGroup = api({
  key: 13,
  name: 'LeaveGroup',
  versions: [0, 5],
  flexibleFrom: 4,
  request: {
    groupId: string(),
    memberId: string({ versions: '0-2' }),
    members: array(
      {
        memberId: string(),
        groupInstanceId: string({ nullable: '3+', default: null }),
        reason: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
      },
      { versions: '3+' },
    ),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
    members: array(
      {
        memberId: string(),
        groupInstanceId: string({ nullable: '3+' }),
        errorCode: int16(),
      },
      { versions: '3+' },
    ),
  },
})

export type LeaveGroupRequest = RequestOf<typeof leaveGroup>
export type LeaveGroupResponse = ResponseOf<typeof leaveGroup>
