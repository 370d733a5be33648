import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, string } from '../field.ts'

/**
 * Chooses a SASL mechanism.
 *
 * - v1 goes on with SaslAuthenticate; after v0 come the bare tokens of the mechanism.
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
