import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string } from '../field.ts'

/**
 * Replaces the whole configuration of a resource; IncrementalAlterConfigs came after it (KIP-339).
 */
export const alterConfigs = api({
  key: 33,
  name: 'AlterConfigs',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    resources: array({
      resourceType: int8(),
      resourceName: string(),
      configs: array({
        name: string(),
        value: string({ nullable: '0+' }),
      }),
    }),
    /** True if we should validate the request, but not change the configurations. */
    validateOnly: boolean(),
  },
  response: {
    /**
     * Duration in milliseconds for which the request was throttled due to a quota violation, or zero if the request
     * did not violate any quota.
     */
    throttleTimeMs: int32(),
    responses: array({
      errorCode: int16(),
      errorMessage: string({ nullable: '0+' }),
      resourceType: int8(),
      resourceName: string(),
    }),
  },
})

export type AlterConfigsRequest = RequestOf<typeof alterConfigs>
export type AlterConfigsResponse = ResponseOf<typeof alterConfigs>
