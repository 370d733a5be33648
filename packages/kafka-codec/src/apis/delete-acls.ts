import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Deletes access control entries that match filters.
 *
 * - v1 adds the pattern type of a resource (KIP-290).
 * - v3 adds users as a resource type (KIP-373).
 */
export const deleteAcls = api({
  key: 31,
  name: 'DeleteAcls',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    filters: array({
      resourceTypeFilter: int8(),
      resourceNameFilter: string({ nullable: '0+' }),
      patternTypeFilter: int8({ versions: '1+', default: 3 }),
      principalFilter: string({ nullable: '0+' }),
      hostFilter: string({ nullable: '0+' }),
      operation: int8(),
      permissionType: int8(),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    filterResults: array({
      errorCode: int16(),
      errorMessage: string({ nullable: '0+' }),
      matchingAcls: array({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
        resourceType: int8(),
        resourceName: string(),
        patternType: int8({ versions: '1+', default: 3 }),
        principal: string(),
        host: string(),
        operation: int8(),
        permissionType: int8(),
      }),
    }),
  },
})

export type DeleteAclsRequest = RequestOf<typeof deleteAcls>
export type DeleteAclsResponse = ResponseOf<typeof deleteAcls>
