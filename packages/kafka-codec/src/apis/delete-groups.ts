import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Deletes groups that have no members, with their offsets (KIP-229).
 *
 * - v3 adds an error message for each group.
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
