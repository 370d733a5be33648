import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { bytes, int16, int32, int64 } from '../field.ts'

/**
 * Ends a delegation token, at once or at a given time (KIP-48).
 */
export const expireDelegationToken = api({
  key: 40,
  name: 'ExpireDelegationToken',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    hmac: bytes(),
    expiryTimePeriodMs: int64(),
  },
  response: {
    errorCode: int16(),
    expiryTimestampMs: int64(),
    throttleTimeMs: int32(),
  },
})

export type ExpireDelegationTokenRequest = RequestOf<typeof expireDelegationToken>
export type ExpireDelegationTokenResponse = ResponseOf<typeof expireDelegationToken>
