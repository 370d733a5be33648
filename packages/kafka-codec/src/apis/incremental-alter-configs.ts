import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string } from '../field.ts'

/**
 * Sets, deletes, appends to or subtracts from single configuration values (KIP-339).
 */
export const incrementalAlterConfigs = api({
  key: 44,
  name: 'IncrementalAlterConfigs',
  versions: [0, 1],
  flexibleFrom: 1,
  request: {
    resources: array({
      resourceType: int8(),
      resourceName: string(),
      configs: array({
        name: string(),
        /** The type (Set, Delete, Append, Subtract) of operation. */
        configOperation: int8(),
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

export type IncrementalAlterConfigsRequest = RequestOf<typeof incrementalAlterConfigs>
export type IncrementalAlterConfigsResponse = ResponseOf<typeof incrementalAlterConfigs>
