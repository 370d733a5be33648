import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Lists access control entries that match a filter.
 *
 * - v1 adds the pattern type of a resource (KIP-290).
 * - v3 adds users as a resource type (KIP-373).
 */
export const describeAcls = api({
  key: 29,
  name: 'DescribeAcls',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    resourceTypeFilter: int8(),
    resourceNameFilter: string({ nullable: '0+' }),
    patternTypeFilter: int8({ versions: '1+', default: 3 }),
    principalFilter: string({ nullable: '0+' }),
    hostFilter: string({ nullable: '0+' }),
    operation: int8(),
    permissionType: int8(),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    resources: array({
      resourceType: int8(),
      resourceName: string(),
      patternType: int8({ versions: '1+', default: 3 }),
      acls: array({
        principal: string(),
        host: string(),
        operation: int8(),
        permissionType: int8(),
      }),
    }),
  },
})

export type DescribeAclsRequest = RequestOf<typeof describeAcls>
export type DescribeAclsResponse = ResponseOf<typeof describeAcls>
