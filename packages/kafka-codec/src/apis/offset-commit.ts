import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Stores how far a consumer group has read.
 *
 * - v1 adds timestamp and group membership information, as well as the commit timestamp.
 * - v2 adds retention time. It removes the commit timestamp added in version 1.
 * - v3 adds the throttle time to the response.
 * - v5 removes the retention time, which is now controlled only by a broker configuration.
 * - v6 adds the leader epoch for fencing.
 * - v7 adds a new field called groupInstanceId to indicate member identity across restarts.
 * - v10 adds support for topic ids and removes support for topic names (KIP-848).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
 * INVALID_COMMIT_OFFSET_SIZE; from v1 ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID; from v7 FENCED_MEMBER_EPOCH; from v9
 * GROUP_ID_NOT_FOUND, STALE_MEMBER_EPOCH.
 */
export const offsetCommit = api({
  key: 8,
  name: 'OffsetCommit',
  versions: [0, 10],
  flexibleFrom: 8,
  request: {
    groupId: string(),
    /**
     * The generation of the group if using the classic group protocol or the member epoch if using the consumer
     * protocol.
     */
    generationIdOrMemberEpoch: int32({ versions: '1+', default: -1, ignorable: true }),
    /** The member ID assigned by the group coordinator. */
    memberId: string({ versions: '1+', ignorable: true }),
    /** The unique identifier of the consumer instance provided by end user. */
    groupInstanceId: string({ versions: '7+', nullable: '7+', default: null }),
    retentionTimeMs: int64({ versions: '2-4', default: -1n, ignorable: true }),
    topics: array({
      name: string({ versions: '0-9', ignorable: true }),
      topicId: uuid({ versions: '10+', ignorable: true }),
      partitions: array({
        partitionIndex: int32(),
        committedOffset: int64(),
        committedLeaderEpoch: int32({ versions: '6+', default: -1, ignorable: true }),
        commitTimestamp: int64({ versions: '1', default: -1n }),
        /** Any associated metadata the client wants to keep. */
        committedMetadata: string({ nullable: '0+' }),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32({ versions: '3+', ignorable: true }),
    topics: array({
      name: string({ versions: '0-9', ignorable: true }),
      topicId: uuid({ versions: '10+', ignorable: true }),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
      }),
    }),
  },
})

export type OffsetCommitRequest = RequestOf<typeof offsetCommit>
export type OffsetCommitResponse = ResponseOf<typeof offsetCommit>
