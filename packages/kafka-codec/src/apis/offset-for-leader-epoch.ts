import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string } from '../field.ts'

/**
 * Finds where the log ended in a leader epoch, so that a reader notices truncation (KIP-101, KIP-320).
 *
 * - v1 adds the leader epoch to the answer.
 * - v2 adds the current leader epoch, for fencing, and the throttle time.
 * - v3 adds ReplicaId; -2 is a "debug" consumer, which may see beyond the high watermark.
 */
export const offsetForLeaderEpoch = api({
  key: 23,
  name: 'OffsetForLeaderEpoch',
  versions: [0, 4],
  flexibleFrom: 4,
  request: {
    /** The broker ID of the follower, of -1 if this request is from a consumer. */
    replicaId: int32({ versions: '3+', default: -2, ignorable: true }),
    topics: array({
      topic: string(),
      partitions: array({
        partition: int32(),
        /**
         * An epoch used to fence consumers/replicas with old metadata. If the epoch provided by the client is larger than
         * the current epoch known to the broker, then the UNKNOWN_LEADER_EPOCH error code will be returned. If the
         * provided epoch is smaller, then the FENCED_LEADER_EPOCH error code will be returned.
         */
        currentLeaderEpoch: int32({ versions: '2+', default: -1, ignorable: true }),
        leaderEpoch: int32(),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array({
      topic: string(),
      partitions: array({
        errorCode: int16(),
        partition: int32(),
        leaderEpoch: int32({ versions: '1+', default: -1, ignorable: true }),
        endOffset: int64({ default: -1n }),
      }),
    }),
  },
})

export type OffsetForLeaderEpochRequest = RequestOf<typeof offsetForLeaderEpoch>
export type OffsetForLeaderEpochResponse = ResponseOf<typeof offsetForLeaderEpoch>
