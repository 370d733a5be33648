import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, int64, records, string, struct, uuid } from '../field.ts'

/**
 * Acquires records for a member of a share group, and acknowledges earlier ones (KIP-932).
 *
 * - v1 is the first stable version.
 * - v2 adds the acquire mode and the renewal of acquisition locks (KIP-1206, KIP-1222).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED, SHARE_SESSION_NOT_FOUND,
 * INVALID_SHARE_SESSION_EPOCH, UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_ID,
 * INVALID_RECORD_STATE, KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE, INVALID_REQUEST, UNKNOWN_SERVER_ERROR.
 */
export const shareFetch = api({
  key: 78,
  name: 'ShareFetch',
  versions: [1, 2],
  flexibleFrom: 0,
  request: {
    groupId: string({ nullable: '0+', default: null }),
    memberId: string({ nullable: '0+' }),
    /**
     * The current share session epoch: 0 to open a share session; -1 to close it; otherwise increments for consecutive
     * requests.
     */
    shareSessionEpoch: int32(),
    /** The maximum time in milliseconds to wait for the response. */
    maxWaitMs: int32(),
    minBytes: int32(),
    /** The maximum bytes to fetch. See KIP-74 for cases where this limit may not be honored. */
    maxBytes: int32({ default: 0x7fffffff }),
    /**
     * The maximum number of records to fetch. This limit can be exceeded for alignment of batch boundaries.
     */
    maxRecords: int32(),
    /** The optimal number of records for batches of acquired records and acknowledgements. */
    batchSize: int32(),
    /** The acquire mode to control the fetch behavior - 0:batch-optimized,1:record-limit. */
    shareAcquireMode: int8({ versions: '2+', default: 0, ignorable: true }),
    /** Whether Renew type acknowledgements present in AcknowledgementBatches. */
    isRenewAck: boolean({ versions: '2+', default: false }),
    topics: array({
      topicId: uuid(),
      partitions: array({
        partitionIndex: int32(),
        acknowledgementBatches: array({
          firstOffset: int64(),
          lastOffset: int64(),
          /** Array of acknowledge types - 0:Gap,1:Accept,2:Release,3:Reject,4:Renew. */
          acknowledgeTypes: array(int8()),
        }),
      }),
    }),
    /** The partitions to remove from this share session. */
    forgottenTopicsData: array({
      topicId: uuid(),
      partitions: array(int32()),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    /** The time in milliseconds for which the acquired records are locked. */
    acquisitionLockTimeoutMs: int32(),
    responses: array({
      topicId: uuid(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
        acknowledgeErrorCode: int16(),
        acknowledgeErrorMessage: string({ nullable: '0+', default: null }),
        currentLeader: struct({
          leaderId: int32(),
          leaderEpoch: int32(),
        }),
        records: records(),
        acquiredRecords: array({
          firstOffset: int64(),
          lastOffset: int64(),
          deliveryCount: int16(),
        }),
      }),
    }),
    /** Endpoints for all current leaders enumerated in PartitionData with error NOT_LEADER_OR_FOLLOWER. */
    nodeEndpoints: array({
      nodeId: int32(),
      host: string(),
      port: int32(),
      rack: string({ nullable: '0+', default: null }),
    }),
  },
})

export type ShareFetchRequest = RequestOf<typeof shareFetch>
export type ShareFetchResponse = ResponseOf<typeof shareFetch>
