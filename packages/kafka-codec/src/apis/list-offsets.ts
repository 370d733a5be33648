import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, int64, string } from '../field.ts'

/**
 * Finds the offset of a partition that belongs to a timestamp, or to a special place in the log such as its end.
 *
 * - v1 removes MaxNumOffsets. From this version forward, only a single offset can be returned; removes the offsets
 *   array in favor of returning a single offset; also adds the timestamp associated with the returned offset.
 * - v2 adds the isolation level, which is used for transactional reads; adds the throttle time.
 * - v4 adds the current leader epoch, which is used for fencing.
 * - v5 adds a new error code, OFFSET_NOT_AVAILABLE.
 * - v7 enables listing offsets by max timestamp (KIP-734).
 * - v8 enables listing offsets by local log start offset (KIP-405).
 * - v9 enables listing offsets by last tiered offset (KIP-1005).
 * - v10 enables async remote list offsets support (KIP-1075).
 * - v11 enables listing offsets by earliest pending upload offset (KIP-1023).
 */
export const listOffsets = api({
  key: 2,
  name: 'ListOffsets',
  versions: [0, 11],
  flexibleFrom: 6,
  request: {
    /** The broker ID of the requester, or -1 if this request is being made by a normal consumer. */
    replicaId: int32(),
    /**
     * This setting controls the visibility of transactional records. Using READ_UNCOMMITTED (isolation_level = 0)
     * makes all records visible. With READ_COMMITTED (isolation_level = 1), non-transactional and COMMITTED
     * transactional records are visible. To be more concrete, READ_COMMITTED returns all data from offsets smaller
     * than the current LSO (last stable offset), and enables the inclusion of the list of aborted transactions in the
     * result, which allows consumers to discard ABORTED transactional records.
     */
    isolationLevel: int8({ versions: '2+' }),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        currentLeaderEpoch: int32({ versions: '4+', default: -1, ignorable: true }),
        timestamp: int64(),
        maxNumOffsets: int32({ versions: '0', default: 1 }),
      }),
    }),
    /**
     * The timeout to await a response in milliseconds for requests that require reading from remote storage for topics
     * enabled with tiered storage.
     */
    timeoutMs: int32({ versions: '10+', ignorable: true }),
  },
  response: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        oldStyleOffsets: array(int64(), { versions: '0' }),
        timestamp: int64({ versions: '1+', default: -1n }),
        offset: int64({ versions: '1+', default: -1n }),
        leaderEpoch: int32({ versions: '4+', default: -1 }),
      }),
    }),
  },
})

export type ListOffsetsRequest = RequestOf<typeof listOffsets>
export type ListOffsetsResponse = ResponseOf<typeof listOffsets>
