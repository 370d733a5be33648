import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uint16, uuid } from '../field.ts'

const replicaState = {
  replicaId: int32(),
  replicaDirectoryId: uuid({ versions: '2+' }),
  /** The last known log end offset of the follower or -1 if it is unknown. */
  logEndOffset: int64(),
  /**
   * The last known leader wall clock time time when a follower fetched from the leader. This is reported as -1 both
   * for the current leader or if it is unknown for a voter.
   */
  lastFetchTimestamp: int64({ versions: '1+', default: -1n, ignorable: true }),
  /**
   * The leader wall clock append time of the offset for which the follower made the most recent fetch request. This
   * is reported as the current time for the leader and -1 if unknown for a voter.
   */
  lastCaughtUpTimestamp: int64({ versions: '1+', default: -1n, ignorable: true }),
}

/**
 * Describes the state of the metadata quorum (KIP-595).
 *
 * - v1 adds the times of the last fetch and of the last being caught up (KIP-836).
 * - v2 adds error messages, nodes and the directory ids of replicas (KIP-853).
 */
export const describeQuorum = api({
  key: 55,
  name: 'DescribeQuorum',
  versions: [0, 2],
  flexibleFrom: 0,
  request: {
    topics: array({
      topicName: string(),
      partitions: array({
        partitionIndex: int32(),
      }),
    }),
  },
  response: {
    errorCode: int16(),
    errorMessage: string({ versions: '2+', nullable: '2+', ignorable: true }),
    topics: array({
      topicName: string(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        errorMessage: string({ versions: '2+', nullable: '2+', ignorable: true }),
        leaderId: int32(),
        leaderEpoch: int32(),
        highWatermark: int64(),
        currentVoters: array(replicaState),
        observers: array(replicaState),
      }),
    }),
    nodes: array(
      {
        nodeId: int32(),
        listeners: array({
          name: string(),
          host: string(),
          port: uint16(),
        }),
      },
      { versions: '2+' },
    ),
  },
})

export type DescribeQuorumRequest = RequestOf<typeof describeQuorum>
export type DescribeQuorumResponse = ResponseOf<typeof describeQuorum>
