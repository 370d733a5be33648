import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Reads the start offsets of share groups (KIP-932).
 *
 * - v1 adds the lag (KIP-1226).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE,
 * COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND, INVALID_REQUEST, UNKNOWN_SERVER_ERROR.
 */
export const describeShareGroupOffsets = api({
  key: 90,
  name: 'DescribeShareGroupOffsets',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    groups: array({
      groupId: string(),
      topics: array(
        {
          topicName: string(),
          partitions: array(int32()),
        },
        { nullable: '0+' },
      ),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    groups: array({
      groupId: string(),
      topics: array({
        topicName: string(),
        topicId: uuid(),
        partitions: array({
          partitionIndex: int32(),
          startOffset: int64(),
          leaderEpoch: int32(),
          lag: int64({ versions: '1+', default: -1n, ignorable: true }),
          errorCode: int16(),
          errorMessage: string({ nullable: '0+', default: null }),
        }),
      }),
      errorCode: int16(),
      errorMessage: string({ nullable: '0+', default: null }),
    }),
  },
})

export type DescribeShareGroupOffsetsRequest = RequestOf<typeof describeShareGroupOffsets>
export type DescribeShareGroupOffsetsResponse = ResponseOf<typeof describeShareGroupOffsets>
