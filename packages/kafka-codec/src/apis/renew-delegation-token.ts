import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { bytes, int16, int32, int64 } from '../field.ts'

/**
 * Prolongs a delegation token (KIP-48).
 */
export const renewDelegationToken = api({
  key: 39,
  name: 'RenewDelegationToken',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    hmac: bytes(),
    renewPeriodMs: int64(),
  },
  response: {
    errorCode: int16(),
    expiryTimestampMs: int64(),
    throttleTimeMs: int32(),
  },
})

export type RenewDelegationTokenRequest = RequestOf<typeof renewDelegationToken>
export type RenewDelegationTokenResponse = ResponseOf<typeof renewDelegationToken>
