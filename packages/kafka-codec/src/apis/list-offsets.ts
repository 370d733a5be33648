import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, int64, string } from '../field.ts'

/**
 * Finds the offset of a partition that belongs to a timestamp, or to a special place in the log such as its end.
 *
 * - v1 answers with one offset and its timestamp, where v0 asked for several and got a list.
 * - v2 adds the isolation level and the throttle time.
 * - v4 adds leader epochs (KIP-320).
 * - v5 adds the error OFFSET_NOT_AVAILABLE.
 * - v7 adds timestamp -3, the record with the largest timestamp (KIP-734).
 * - v8 adds -4, the first offset on local disk (KIP-405).
 * - v9 adds -5, the last offset in tiered storage (KIP-1005).
 * - v10 adds the time to wait for tiered storage (KIP-1075).
 * - v11 adds -6, the first offset not yet uploaded (KIP-1023).
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
