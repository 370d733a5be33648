import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, records, string, struct, uuid } from '../field.ts'

/**
 * Appends record batches to partitions.
 *
 * - v1 adds the throttle time.
 * - v2 adds the log append time; the requester uses message format 1.
 * - v3 adds the transactional id; records are batches of message format 2. Kafka 4 serves no version before it.
 * - v4 adds the error KAFKA_STORAGE_ERROR.
 * - v5 adds LogStartOffset.
 * - v7 allows zstd (KIP-110).
 * - v8 says which records are at fault, and why (KIP-467).
 * - v10 names the new leader and its endpoint (KIP-951).
 * - v11 adds the error TRANSACTION_ABORTABLE (KIP-890).
 * - v12 adds partitions to the transaction by itself, without AddPartitionsToTxn (KIP-890).
 * - v13 names topics by id and adds the error UNKNOWN_TOPIC_ID (KIP-516).
 */
export const produce = api({
  key: 0,
  name: 'Produce',
  versions: [0, 13],
  flexibleFrom: 9,
  request: {
    transactionalId: string({ versions: '3+', nullable: '3+', default: null }),
    /**
     * The number of acknowledgments the producer requires the leader to have received before considering a request
     * complete. Allowed values: 0 for no acknowledgments, 1 for only the leader and -1 for the full ISR.
     */
    acks: int16(),
    timeoutMs: int32(),
    topicData: array({
      name: string({ versions: '0-12', ignorable: true }),
      topicId: uuid({ versions: '13+', ignorable: true }),
      partitionData: array({
        index: int32(),
        records: records({ nullable: '0+' }),
      }),
    }),
  },
  response: {
    responses: array({
      name: string({ versions: '0-12', ignorable: true }),
      topicId: uuid({ versions: '13+', ignorable: true }),
      partitionResponses: array({
        index: int32(),
        errorCode: int16(),
        baseOffset: int64(),
        /**
         * The timestamp returned by broker after appending the messages. If CreateTime is used for the topic, the
         * timestamp will be -1. If LogAppendTime is used for the topic, the timestamp will be the broker local time when
         * the messages are appended.
         */
        logAppendTimeMs: int64({ versions: '2+', default: -1n, ignorable: true }),
        logStartOffset: int64({ versions: '5+', default: -1n, ignorable: true }),
        /** The batch indices of records that caused the batch to be dropped. */
        recordErrors: array(
          {
            batchIndex: int32(),
            batchIndexErrorMessage: string({ nullable: '8+', default: null }),
          },
          { versions: '8+', ignorable: true },
        ),
        /**
         * The global error message summarizing the common root cause of the records that caused the batch to be dropped.
         */
        errorMessage: string({ versions: '8+', nullable: '8+', default: null, ignorable: true }),
        /** The leader broker that the producer should use for future requests. */
        currentLeader: struct(
          {
            leaderId: int32({ default: -1 }),
            leaderEpoch: int32({ default: -1 }),
          },
          { versions: '10+', tag: 0 },
        ),
      }),
    }),
    throttleTimeMs: int32({ versions: '1+', default: 0, ignorable: true }),
    /**
     * Endpoints for all current-leaders enumerated in PartitionProduceResponses, with errors NOT_LEADER_OR_FOLLOWER.
     */
    nodeEndpoints: array(
      {
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '10+', default: null }),
      },
      { versions: '10+', tag: 0 },
    ),
  },
})

export type ProduceRequest = RequestOf<typeof produce>
export type ProduceResponse = ResponseOf<typeof produce>
