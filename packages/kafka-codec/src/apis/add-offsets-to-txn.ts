import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { int16, int32, int64, string } from '../field.ts'

/**
 * Adds the offsets partition of a group to a transaction.
 *
 * - v2 adds the error PRODUCER_FENCED.
 * - v4 adds the error TRANSACTION_ABORTABLE (KIP-890).
 */
export const addOffsetsToTxn = api({
  key: 25,
  name: 'AddOffsetsToTxn',
  versions: [0, 4],
  flexibleFrom: 3,
  request: {
    transactionalId: string(),
    /** Current producer id in use by the transactional id. */
    producerId: int64(),
    producerEpoch: int16(),
    groupId: string(),
  },
  response: {
    /**
     * Duration in milliseconds for which the request was throttled due to a quota violation, or zero if the request
     * did not violate any quota.
     */
    throttleTimeMs: int32(),
    errorCode: int16(),
  },
})

export type AddOffsetsToTxnRequest = RequestOf<typeof addOffsetsToTxn>
export type AddOffsetsToTxnResponse = ResponseOf<typeof addOffsetsToTxn>
