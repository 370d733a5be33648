import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Deletes groups that have no members, with their offsets (KIP-229).
 *
 * - v3 corresponds to the addition of an ErrorMessage field on each per-group result in the response (populated when
 *   the broker needs to surface a cause to the caller). The request body shape is unchanged at version 3; adds the per-
 *   group ErrorMessage field so the broker can surface a cause string when GROUP_DELETION_FAILED (or any other non-NONE
 *   error) is returned for a group.
 */
export const deleteGroups = api({
  key: 42,
  name: 'DeleteGroups',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    groupsNames: array(string()),
  },
  response: {
    throttleTimeMs: int32(),
    results: array({
      groupId: string(),
      errorCode: int16(),
      errorMessage: string({ versions: '3+', nullable: '3+', default: null, ignorable: true }),
    }),
  },
})

export type DeleteGroupsRequest = RequestOf<typeof deleteGroups>
export type DeleteGroupsResponse = ResponseOf<typeof deleteGroups>
