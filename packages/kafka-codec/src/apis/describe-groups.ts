import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, bytes, int16, int32, string } from '../field.ts'

/**
 * Describes classic consumer groups and their members.
 *
 * - v1 adds the throttle time.
 * - v3 adds authorized operations, on request.
 * - v4 adds the instance ids of static members (KIP-345).
 * - v6 answers GROUP_ID_NOT_FOUND for a group that does not exist, where earlier versions call it dead (KIP-1043).
 */
export const describeGroups = api({
  key: 15,
  name: 'DescribeGroups',
  versions: [0, 6],
  flexibleFrom: 5,
  request: {
    groups: array(string()),
    includeAuthorizedOperations: boolean({ versions: '3+' }),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    groups: array({
      errorCode: int16(),
      errorMessage: string({ versions: '6+', nullable: '6+', default: null }),
      groupId: string(),
      groupState: string(),
      protocolType: string(),
      protocolData: string(),
      members: array({
        memberId: string(),
        /** The unique identifier of the consumer instance provided by end user. */
        groupInstanceId: string({ versions: '4+', nullable: '4+', default: null, ignorable: true }),
        /** The client ID used in the member's latest join group request. */
        clientId: string(),
        clientHost: string(),
        /** The metadata corresponding to the current group protocol in use. */
        memberMetadata: bytes(),
        /** The current assignment provided by the group leader. */
        memberAssignment: bytes(),
      }),
      /** 32-bit bitfield to represent authorized operations for this group. */
      authorizedOperations: int32({ versions: '3+', default: -2147483648 }),
    }),
  },
})

export type DescribeGroupsRequest = RequestOf<typeof describeGroups>
export type DescribeGroupsResponse = ResponseOf<typeof describeGroups>
