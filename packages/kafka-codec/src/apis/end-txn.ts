import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { boolean, int16, int32, int64, string } from '../field.ts'

/**
 * Commits or aborts a transaction.
 *
 * - v2 adds the support for new error code PRODUCER_FENCED.
 * - v4 adds support for new error code TRANSACTION_ABORTABLE (KIP-890).
 * - v5 enables bumping epoch on every transaction (KIP-890 Part 2).
 */
export const endTxn = api({
  key: 26,
  name: 'EndTxn',
  versions: [0, 5],
  flexibleFrom: 3,
  request: {
    transactionalId: string(),
    producerId: int64(),
    producerEpoch: int16(),
    /** True if the transaction was committed, false if it was aborted. */
    committed: boolean(),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    producerId: int64({ versions: '5+', default: -1n, ignorable: true }),
    producerEpoch: int16({ versions: '5+', default: -1, ignorable: true }),
  },
})

export type EndTxnRequest = RequestOf<typeof endTxn>
export type EndTxnResponse = ResponseOf<typeof endTxn>
