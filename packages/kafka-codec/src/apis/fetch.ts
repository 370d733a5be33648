import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, int64, records, string, struct, uuid } from '../field.ts'

/**
 * Reads record batches from partitions, waiting for data if asked to (KIP-74, fetch sessions KIP-227).
 *
 * - v2: the requester understands message format 1.
 * - v3 adds MaxBytes; from here on partitions are answered in the order in which they are asked for.
 * - v4 adds the isolation level and aborted transactions; the requester understands message format 2.
 * - v5 adds LogStartOffset.
 * - v6 adds the error KAFKA_STORAGE_ERROR.
 * - v7 adds fetch sessions (KIP-227).
 * - v9 adds CurrentLeaderEpoch (KIP-320).
 * - v10: the requester understands zstd (KIP-110).
 * - v12 adds LastFetchedEpoch and what belongs to it in the answer: truncation is found while fetching (KIP-595).
 * - v13 names topics by id and adds the error UNKNOWN_TOPIC_ID (KIP-516).
 * - v15 moves ReplicaId into ReplicaState, a tagged field, with the epoch of the replica (KIP-903).
 * - v16 adds the endpoints of new leaders (KIP-951).
 * - v17 adds the directory id of the replica (KIP-853).
 * - v18 adds the high watermark that the replica knows (KIP-1166).
 */
export const fetch = api({
  key: 1,
  name: 'Fetch',
  versions: [0, 18],
  flexibleFrom: 12,
  request: {
    /** The clusterId if known. This is used to validate metadata fetches prior to broker registration. */
    clusterId: string({ versions: '12+', nullable: '12+', default: null, tag: 0, ignorable: true }),
    /** The broker ID of the follower, of -1 if this request is from a consumer. */
    replicaId: int32({ versions: '0-14', default: -1 }),
    replicaState: struct(
      {
        /** The replica ID of the follower, or -1 if this request is from a consumer. */
        replicaId: int32({ default: -1 }),
        /** The epoch of this follower, or -1 if not available. */
        replicaEpoch: int64({ default: -1n }),
      },
      { versions: '15+', tag: 1 },
    ),
    /** The maximum time in milliseconds to wait for the response. */
    maxWaitMs: int32(),
    minBytes: int32(),
    /** The maximum bytes to fetch. See KIP-74 for cases where this limit may not be honored. */
    maxBytes: int32({ versions: '3+', default: 0x7fffffff, ignorable: true }),
    /**
     * This setting controls the visibility of transactional records. Using READ_UNCOMMITTED (isolation_level = 0)
     * makes all records visible. With READ_COMMITTED (isolation_level = 1), non-transactional and COMMITTED
     * transactional records are visible. To be more concrete, READ_COMMITTED returns all data from offsets smaller
     * than the current LSO (last stable offset), and enables the inclusion of the list of aborted transactions in the
     * result, which allows consumers to discard ABORTED transactional records.
     */
    isolationLevel: int8({ versions: '4+', default: 0, ignorable: true }),
    sessionId: int32({ versions: '7+', default: 0, ignorable: true }),
    sessionEpoch: int32({ versions: '7+', default: -1, ignorable: true }),
    topics: array({
      topic: string({ versions: '0-12', ignorable: true }),
      topicId: uuid({ versions: '13+', ignorable: true }),
      partitions: array({
        partition: int32(),
        currentLeaderEpoch: int32({ versions: '9+', default: -1, ignorable: true }),
        fetchOffset: int64(),
        lastFetchedEpoch: int32({ versions: '12+', default: -1 }),
        /**
         * The earliest available offset of the follower replica. The field is only used when the request is sent by the
         * follower.
         */
        logStartOffset: int64({ versions: '5+', default: -1n, ignorable: true }),
        /**
         * The maximum bytes to fetch from this partition. See KIP-74 for cases where this limit may not be honored.
         */
        partitionMaxBytes: int32(),
        replicaDirectoryId: uuid({ versions: '17+', tag: 0, ignorable: true }),
        /**
         * The high-watermark known by the replica. -1 if the high-watermark is not known and 9223372036854775807 if the
         * feature is not supported.
         */
        highWatermark: int64({ versions: '18+', default: 9223372036854775807n, tag: 1, ignorable: true }),
      }),
    }),
    /** In an incremental fetch request, the partitions to remove. */
    forgottenTopicsData: array(
      {
        topic: string({ versions: '7-12', ignorable: true }),
        topicId: uuid({ versions: '13+', ignorable: true }),
        partitions: array(int32()),
      },
      { versions: '7+' },
    ),
    rackId: string({ versions: '11+', default: '', ignorable: true }),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16({ versions: '7+', ignorable: true }),
    sessionId: int32({ versions: '7+', default: 0 }),
    responses: array({
      topic: string({ versions: '0-12', ignorable: true }),
      topicId: uuid({ versions: '13+', ignorable: true }),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        highWatermark: int64(),
        /**
         * The last stable offset (or LSO) of the partition. This is the last offset such that the state of all
         * transactional records prior to this offset have been decided (ABORTED or COMMITTED).
         */
        lastStableOffset: int64({ versions: '4+', default: -1n, ignorable: true }),
        logStartOffset: int64({ versions: '5+', default: -1n, ignorable: true }),
        /**
         * In case divergence is detected based on the `LastFetchedEpoch` and `FetchOffset` in the request, this field
         * indicates the largest epoch and its end offset such that subsequent records are known to diverge.
         */
        divergingEpoch: struct(
          {
            epoch: int32({ default: -1 }),
            endOffset: int64({ default: -1n }),
          },
          { versions: '12+', tag: 0 },
        ),
        currentLeader: struct(
          {
            leaderId: int32({ default: -1 }),
            leaderEpoch: int32({ default: -1 }),
          },
          { versions: '12+', tag: 1 },
        ),
        /**
         * In the case of fetching an offset less than the LogStartOffset, this is the end offset and epoch that should be
         * used in the FetchSnapshot request.
         */
        snapshotId: struct(
          {
            endOffset: int64({ default: -1n }),
            epoch: int32({ default: -1 }),
          },
          { versions: '12+', tag: 2 },
        ),
        abortedTransactions: array(
          {
            producerId: int64(),
            firstOffset: int64(),
          },
          { versions: '4+', nullable: '4+', ignorable: true },
        ),
        /** The preferred read replica for the consumer to use on its next fetch request. */
        preferredReadReplica: int32({ versions: '11+', default: -1 }),
        records: records({ nullable: '0+' }),
      }),
    }),
    /**
     * Endpoints for all current-leaders enumerated in PartitionData, with errors NOT_LEADER_OR_FOLLOWER &
     * FENCED_LEADER_EPOCH.
     */
    nodeEndpoints: array(
      {
        nodeId: int32(),
        host: string(),
        port: int32(),
        rack: string({ nullable: '16+', default: null }),
      },
      { versions: '16+', tag: 0 },
    ),
  },
})

export type FetchRequest = RequestOf<typeof fetch>
export type FetchResponse = ResponseOf<typeof fetch>
