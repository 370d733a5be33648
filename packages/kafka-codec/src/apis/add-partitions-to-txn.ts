import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, int64, string } from '../field.ts'

const addPartitionsToTxnTopic = {
  name: string(),
  partitions: array(int32()),
}

const addPartitionsToTxnPartitionResult = {
  partitionIndex: int32(),
  partitionErrorCode: int16(),
}

const addPartitionsToTxnTopicResult = {
  name: string(),
  resultsByPartition: array(addPartitionsToTxnPartitionResult),
}

/**
 * Adds partitions to a transaction before records are written to them.
 *
 * - v2 adds the error PRODUCER_FENCED.
 * - v3 is the last that clients use; brokers use v4 and later among themselves.
 * - v4 adds VerifyOnly, to ask whether partitions are in the transaction already, and batches of transactions with an
 *   error code for the whole.
 * - v5 adds the error TRANSACTION_ABORTABLE (KIP-890).
 */
export const addPartitionsToTxn = api({
  key: 24,
  name: 'AddPartitionsToTxn',
  versions: [0, 5],
  flexibleFrom: 3,
  request: {
    transactions: array(
      {
        transactionalId: string(),
        /** Current producer id in use by the transactional id. */
        producerId: int64(),
        producerEpoch: int16(),
        /** Boolean to signify if we want to check if the partition is in the transaction rather than add it. */
        verifyOnly: boolean({ default: false }),
        topics: array(addPartitionsToTxnTopic),
      },
      { versions: '4+' },
    ),
    v3AndBelowTransactionalId: string({ versions: '0-3' }),
    /** Current producer id in use by the transactional id. */
    v3AndBelowProducerId: int64({ versions: '0-3' }),
    v3AndBelowProducerEpoch: int16({ versions: '0-3' }),
    v3AndBelowTopics: array(addPartitionsToTxnTopic, { versions: '0-3' }),
  },
  response: {
    /**
     * Duration in milliseconds for which the request was throttled due to a quota violation, or zero if the request
     * did not violate any quota.
     */
    throttleTimeMs: int32(),
    errorCode: int16({ versions: '4+', ignorable: true }),
    resultsByTransaction: array(
      {
        transactionalId: string(),
        topicResults: array(addPartitionsToTxnTopicResult),
      },
      { versions: '4+' },
    ),
    resultsByTopicV3AndBelow: array(addPartitionsToTxnTopicResult, { versions: '0-3' }),
  },
})

export type AddPartitionsToTxnRequest = RequestOf<typeof addPartitionsToTxn>
export type AddPartitionsToTxnResponse = ResponseOf<typeof addPartitionsToTxn>
