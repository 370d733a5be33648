import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string } from '../field.ts'

/**
 * Describes the state of transactions (KIP-664).
 */
export const describeTransactions = api({
  key: 65,
  name: 'DescribeTransactions',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    /**
     * Array of transactionalIds to include in describe results. If empty, then no results will be returned.
     */
    transactionalIds: array(string()),
  },
  response: {
    throttleTimeMs: int32(),
    transactionStates: array({
      errorCode: int16(),
      transactionalId: string(),
      transactionState: string(),
      transactionTimeoutMs: int32(),
      transactionStartTimeMs: int64(),
      producerId: int64(),
      producerEpoch: int16(),
      /**
       * The set of partitions included in the current transaction (if active). When a transaction is preparing to commit
       * or abort, this will include only partitions which do not have markers.
       */
      topics: array({
        topic: string(),
        /** The partition ids included in the current transaction. */
        partitions: array(int32()),
      }),
    }),
  },
})

export type DescribeTransactionsRequest = RequestOf<typeof describeTransactions>
export type DescribeTransactionsResponse = ResponseOf<typeof describeTransactions>
