import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Says which SCRAM mechanisms and iteration counts users have (KIP-554).
 */
export const describeUserScramCredentials = api({
  key: 50,
  name: 'DescribeUserScramCredentials',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    users: array(
      {
        name: string(),
      },
      { nullable: '0+' },
    ),
  },
  response: {
    throttleTimeMs: int32(),
    /** The message-level error code, 0 except for user authorization or infrastructure issues. */
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    results: array({
      user: string(),
      errorCode: int16(),
      errorMessage: string({ nullable: '0+' }),
      /** The mechanism and related information associated with the user's SCRAM credentials. */
      credentialInfos: array({
        mechanism: int8(),
        iterations: int32(),
      }),
    }),
  },
})

export type DescribeUserScramCredentialsRequest = RequestOf<typeof describeUserScramCredentials>
export type DescribeUserScramCredentialsResponse = ResponseOf<typeof describeUserScramCredentials>
