import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, bytes, int16, int32, int64, string } from '../field.ts'

/**
 * Creates a delegation token (KIP-48).
 *
 * - v3 adds an owner other than the requester (KIP-373).
 */
export const createDelegationToken = api({
  key: 38,
  name: 'CreateDelegationToken',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    ownerPrincipalType: string({ versions: '3+', nullable: '3+' }),
    ownerPrincipalName: string({ versions: '3+', nullable: '3+' }),
    /** A list of those who are allowed to renew this token before it expires. */
    renewers: array({
      principalType: string(),
      principalName: string(),
    }),
    /** The maximum lifetime of the token in milliseconds, or -1 to use the server side default. */
    maxLifetimeMs: int64(),
  },
  response: {
    errorCode: int16(),
    principalType: string(),
    principalName: string(),
    tokenRequesterPrincipalType: string({ versions: '3+' }),
    tokenRequesterPrincipalName: string({ versions: '3+' }),
    issueTimestampMs: int64(),
    expiryTimestampMs: int64(),
    maxTimestampMs: int64(),
    tokenId: string(),
    hmac: bytes(),
    throttleTimeMs: int32(),
  },
})

export type CreateDelegationTokenRequest = RequestOf<typeof createDelegationToken>
export type CreateDelegationTokenResponse = ResponseOf<typeof createDelegationToken>
