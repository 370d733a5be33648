import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, string } from '../field.ts'

/**
 * Chooses a SASL mechanism.
 *
 * - v1 supports SASL_AUTHENTICATE. NOTE: Version cannot be easily bumped due to incorrect client negotiation for
 *   clients <= 2.4. See https://issues.apache.org/jira/browse/KAFKA-9577.
 */
export const saslHandshake = api({
  key: 17,
  name: 'SaslHandshake',
  versions: [0, 1],
  request: {
    mechanism: string(),
  },
  response: {
    errorCode: int16(),
    mechanisms: array(string()),
  },
})

export type SaslHandshakeRequest = RequestOf<typeof saslHandshake>
export type SaslHandshakeResponse = ResponseOf<typeof saslHandshake>
