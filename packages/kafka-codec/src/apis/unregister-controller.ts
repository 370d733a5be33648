import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { int16, int32, string } from '../field.ts'

/**
 * Removes a controller that is gone from the cluster metadata.
 */
export const unregisterController = api({
  key: 94,
  name: 'UnregisterController',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    controllerId: int32(),
  },
  response: {
    /**
     * Duration in milliseconds for which the request was throttled due to a quota violation, or zero if the request
     * did not violate any quota.
     */
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
  },
})

export type UnregisterControllerRequest = RequestOf<typeof unregisterController>
export type UnregisterControllerResponse = ResponseOf<typeof unregisterController>
