import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { bytes, int16, int64, string } from '../field.ts'

/**
 * Carries one message of a SASL exchange (KIP-152).
 *
 * - v1 adds the session lifetime.
 */
export const saslAuthenticate = api({
  key: 36,
  name: 'SaslAuthenticate',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    /** The SASL authentication bytes from the client, as defined by the SASL mechanism. */
    authBytes: bytes(),
  },
  response: {
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    /** The SASL authentication bytes from the server, as defined by the SASL mechanism. */
    authBytes: bytes(),
    /**
     * Number of milliseconds after which only re-authentication over the existing connection to create a new session
     * can occur.
     */
    sessionLifetimeMs: int64({ versions: '1+', default: 0n, ignorable: true }),
  },
})

export type SaslAuthenticateRequest = RequestOf<typeof saslAuthenticate>
export type SaslAuthenticateResponse = ResponseOf<typeof saslAuthenticate>
