import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, bytes, int16, int32, int64, string } from '../field.ts'

/**
 * Lists delegation tokens (KIP-48).
 *
 * - v3 adds who requested the token (KIP-373).
 */
export const describeDelegationToken = api({
  key: 41,
  name: 'DescribeDelegationToken',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    owners: array(
      {
        principalType: string(),
        principalName: string(),
      },
      { nullable: '0+' },
    ),
  },
  response: {
    errorCode: int16(),
    tokens: array({
      principalType: string(),
      principalName: string(),
      tokenRequesterPrincipalType: string({ versions: '3+' }),
      tokenRequesterPrincipalName: string({ versions: '3+' }),
      issueTimestamp: int64(),
      expiryTimestamp: int64(),
      maxTimestamp: int64(),
      tokenId: string(),
      hmac: bytes(),
      /** Those who are able to renew this token before it expires. */
      renewers: array({
        principalType: string(),
        principalName: string(),
      }),
    }),
    throttleTimeMs: int32(),
  },
})

export type DescribeDelegationTokenRequest = RequestOf<typeof describeDelegationToken>
export type DescribeDelegationTokenResponse = ResponseOf<typeof describeDelegationToken>
