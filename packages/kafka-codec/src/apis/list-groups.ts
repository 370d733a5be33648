import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Lists the groups that this broker coordinates.
 *
 * - v1 adds the throttle time.
 * - v4 adds states, in the answer and as a filter (KIP-518).
 * - v5 adds the types of groups, in the answer and as a filter (KIP-848).
 */
export const listGroups = api({
  key: 16,
  name: 'ListGroups',
  versions: [0, 5],
  flexibleFrom: 3,
  request: {
    /** The states of the groups we want to list. If empty, all groups are returned with their state. */
    statesFilter: array(string(), { versions: '4+' }),
    /** The types of the groups we want to list. If empty, all groups are returned with their type. */
    typesFilter: array(string(), { versions: '5+' }),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16(),
    groups: array({
      groupId: string(),
      protocolType: string(),
      groupState: string({ versions: '4+', ignorable: true }),
      groupType: string({ versions: '5+', ignorable: true }),
    }),
  },
})

export type ListGroupsRequest = RequestOf<typeof listGroups>
export type ListGroupsResponse = ResponseOf<typeof listGroups>
