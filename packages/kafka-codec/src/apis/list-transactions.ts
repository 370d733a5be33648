import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string } from '../field.ts'

/**
 * Lists the transactions that this broker coordinates (KIP-664).
 *
 * - v1 adds a filter by duration (KIP-994).
 * - v2 adds a filter by a pattern for transactional ids, and the error INVALID_REGULAR_EXPRESSION (KIP-1152).
 */
export const listTransactions = api({
  key: 66,
  name: 'ListTransactions',
  versions: [0, 2],
  flexibleFrom: 0,
  request: {
    /**
     * The transaction states to filter by: if empty, all transactions are returned; if non-empty, then only
     * transactions matching one of the filtered states will be returned.
     */
    stateFilters: array(string()),
    /**
     * The producerIds to filter by: if empty, all transactions will be returned; if non-empty, only transactions which
     * match one of the filtered producerIds will be returned.
     */
    producerIdFilters: array(int64()),
    /**
     * Duration (in millis) to filter by: if < 0, all transactions will be returned; otherwise, only transactions
     * running longer than this duration will be returned.
     */
    durationFilter: int64({ versions: '1+', default: -1n }),
    /**
     * The transactional ID regular expression pattern to filter by: if it is empty or null, all transactions are
     * returned; Otherwise then only the transactions matching the given regular expression will be returned.
     */
    transactionalIdPattern: string({ versions: '2+', nullable: '2+', default: null }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    /** Set of state filters provided in the request which were unknown to the transaction coordinator. */
    unknownStateFilters: array(string()),
    transactionStates: array({
      transactionalId: string(),
      producerId: int64(),
      transactionState: string(),
    }),
  },
})

export type ListTransactionsRequest = RequestOf<typeof listTransactions>
export type ListTransactionsResponse = ResponseOf<typeof listTransactions>
