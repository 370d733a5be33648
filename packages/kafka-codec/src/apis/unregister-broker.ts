import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { int16, int32, string } from '../field.ts'

/**
 * Removes a broker that is gone from the cluster metadata (KIP-500).
 */
export const unregisterBroker = api({
  key: 64,
  name: 'UnregisterBroker',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    brokerId: int32(),
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

export type UnregisterBrokerRequest = RequestOf<typeof unregisterBroker>
export type UnregisterBrokerResponse = ResponseOf<typeof unregisterBroker>
