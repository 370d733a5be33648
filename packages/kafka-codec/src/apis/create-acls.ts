import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Creates access control entries.
 *
 * - v1 adds the pattern type of a resource (KIP-290).
 * - v3 adds users as a resource type (KIP-373).
 */
export const createAcls = api({
  key: 30,
  name: 'CreateAcls',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    creations: array({
      resourceType: int8(),
      resourceName: string(),
      resourcePatternType: int8({ versions: '1+', default: 3 }),
      principal: string(),
      host: string(),
      /** The operation type for the ACL (read, write, etc.). */
      operation: int8(),
      permissionType: int8(),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    results: array({
      errorCode: int16(),
      errorMessage: string({ nullable: '0+' }),
    }),
  },
})

export type CreateAclsRequest = RequestOf<typeof createAcls>
export type CreateAclsResponse = ResponseOf<typeof createAcls>
