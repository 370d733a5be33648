import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, string, struct, uuid } from '../field.ts'

/**
 * Describes topics and partitions page by page (KIP-966).
 */
export const describeTopicPartitions = api({
  key: 75,
  name: 'DescribeTopicPartitions',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    topics: array({
      name: string(),
    }),
    responsePartitionLimit: int32({ default: 2000 }),
    /** The first topic and partition index to fetch details for. */
    cursor: struct(
      {
        topicName: string(),
        partitionIndex: int32(),
      },
      { nullable: '0+', default: null },
    ),
  },
  response: {
    throttleTimeMs: int32({ ignorable: true }),
    topics: array({
      errorCode: int16(),
      name: string({ nullable: '0+' }),
      topicId: uuid({ ignorable: true }),
      isInternal: boolean({ default: false, ignorable: true }),
      partitions: array({
        errorCode: int16(),
        partitionIndex: int32(),
        leaderId: int32(),
        leaderEpoch: int32({ default: -1, ignorable: true }),
        replicaNodes: array(int32()),
        /** The set of nodes that are in sync with the leader for this partition. */
        isrNodes: array(int32()),
        eligibleLeaderReplicas: array(int32(), { nullable: '0+', default: null }),
        lastKnownElr: array(int32(), { nullable: '0+', default: null }),
        offlineReplicas: array(int32(), { ignorable: true }),
      }),
      /** 32-bit bitfield to represent authorized operations for this topic. */
      topicAuthorizedOperations: int32({ default: -2147483648 }),
    }),
    nextCursor: struct(
      {
        topicName: string(),
        partitionIndex: int32(),
      },
      { nullable: '0+', default: null },
    ),
  },
})

export type DescribeTopicPartitionsRequest = RequestOf<typeof describeTopicPartitions>
export type DescribeTopicPartitionsResponse = ResponseOf<typeof describeTopicPartitions>
