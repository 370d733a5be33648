import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Reads back what OffsetCommit stored.
 *
 * - v0 reads offsets from ZooKeeper.
 * - v1 reads them from the internal topic.
 * - v2 asks for all topics with null, and adds an error code for the whole.
 * - v3 adds the throttle time.
 * - v5 adds leader epochs (KIP-320).
 * - v7 adds RequireStable, which waits for pending transactions: UNSTABLE_OFFSET_COMMIT until they end.
 * - v8 asks for several groups at once: `groups` takes the place of `groupId` and `topics`.
 * - v9 adds member id and epoch, checked if the group uses the new consumer protocol (KIP-848).
 * - v10 names topics by id, and no longer by name (KIP-848).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
 * GROUP_ID_NOT_FOUND; from v7 UNSTABLE_OFFSET_COMMIT; from v9 UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH.
 */
export const offsetFetch = api({
  key: 9,
  name: 'OffsetFetch',
  versions: [0, 10],
  flexibleFrom: 6,
  request: {
    groupId: string({ versions: '0-7' }),
    /** Each topic we would like to fetch offsets for, or null to fetch offsets for all topics. */
    topics: array(
      {
        name: string(),
        partitionIndexes: array(int32()),
      },
      { versions: '0-7', nullable: '2-7' },
    ),
    groups: array(
      {
        groupId: string(),
        memberId: string({ versions: '9+', nullable: '9+', default: null, ignorable: true }),
        /** The member epoch if using the new consumer protocol (KIP-848). */
        memberEpoch: int32({ versions: '9+', default: -1, ignorable: true }),
        /** Each topic we would like to fetch offsets for, or null to fetch offsets for all topics. */
        topics: array(
          {
            name: string({ versions: '8-9', ignorable: true }),
            topicId: uuid({ versions: '10+', ignorable: true }),
            partitionIndexes: array(int32()),
          },
          { nullable: '8+' },
        ),
      },
      { versions: '8+' },
    ),
    /**
     * Whether broker should hold on returning unstable offsets but set a retriable error code for the partitions.
     */
    requireStable: boolean({ versions: '7+', default: false }),
  },
  response: {
    throttleTimeMs: int32({ versions: '3+', ignorable: true }),
    topics: array(
      {
        name: string(),
        partitions: array({
          partitionIndex: int32(),
          committedOffset: int64(),
          committedLeaderEpoch: int32({ versions: '5-7', default: -1, ignorable: true }),
          metadata: string({ nullable: '0-7' }),
          errorCode: int16(),
        }),
      },
      { versions: '0-7' },
    ),
    errorCode: int16({ versions: '2-7', default: 0, ignorable: true }),
    groups: array(
      {
        groupId: string(),
        topics: array({
          name: string({ versions: '8-9', ignorable: true }),
          topicId: uuid({ versions: '10+', ignorable: true }),
          partitions: array({
            partitionIndex: int32(),
            committedOffset: int64(),
            committedLeaderEpoch: int32({ default: -1, ignorable: true }),
            metadata: string({ nullable: '8+' }),
            errorCode: int16(),
          }),
        }),
        errorCode: int16({ default: 0 }),
      },
      { versions: '8+' },
    ),
  },
})

export type OffsetFetchRequest = RequestOf<typeof offsetFetch>
export type OffsetFetchResponse = ResponseOf<typeof offsetFetch>
