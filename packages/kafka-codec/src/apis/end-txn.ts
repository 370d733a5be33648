import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { boolean, int16, int32, int64, string } from '../field.ts'

/**
 * Commits or aborts a transaction.
 *
 * - v2 adds the error PRODUCER_FENCED.
 * - v4 adds the error TRANSACTION_ABORTABLE (KIP-890).
 * - v5 raises the epoch with every transaction and returns it (KIP-890, part 2).
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
