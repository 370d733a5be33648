import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Stores how far a consumer group has read.
 *
 * - v1 adds the group membership and a commit timestamp; v0 kept offsets in ZooKeeper.
 * - v2 has a retention time instead of the commit timestamp.
 * - v3 adds the throttle time.
 * - v5 drops the retention time, which is now up to the broker.
 * - v6 adds leader epochs (KIP-320).
 * - v7 adds the instance id of static members (KIP-345).
 * - v9 takes the member epoch of the new consumer protocol in place of the generation (KIP-848).
 * - v10 names topics by id, and no longer by name (KIP-848).
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
