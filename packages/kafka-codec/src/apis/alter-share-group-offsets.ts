import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Moves the start offsets of a share group (KIP-932).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE,
 * COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, KAFKA_STORAGE_ERROR, INVALID_REQUEST,
 * UNKNOWN_SERVER_ERROR.
 */
export const alterShareGroupOffsets = api({
  key: 91,
  name: 'AlterShareGroupOffsets',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    topics: array({
      topicName: string(),
      partitions: array({
        partitionIndex: int32(),
        startOffset: int64(),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    responses: array({
      topicName: string(),
      topicId: uuid(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
      }),
    }),
  },
})

export type AlterShareGroupOffsetsRequest = RequestOf<typeof alterShareGroupOffsets>
export type AlterShareGroupOffsetsResponse = ResponseOf<typeof alterShareGroupOffsets>
