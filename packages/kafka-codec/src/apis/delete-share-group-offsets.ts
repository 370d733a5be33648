import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string, uuid } from '../field.ts'

/**
 * Deletes the start offsets of a share group (KIP-932).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE,
 * COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, KAFKA_STORAGE_ERROR, INVALID_REQUEST,
 * UNKNOWN_SERVER_ERROR, UNKNOWN_TOPIC_OR_PARTITION.
 */
export const deleteShareGroupOffsets = api({
  key: 92,
  name: 'DeleteShareGroupOffsets',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    topics: array({
      topicName: string(),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    responses: array({
      topicName: string(),
      topicId: uuid(),
      errorCode: int16(),
      errorMessage: string({ nullable: '0+', default: null }),
    }),
  },
})

export type DeleteShareGroupOffsetsRequest = RequestOf<typeof deleteShareGroupOffsets>
export type DeleteShareGroupOffsetsResponse = ResponseOf<typeof deleteShareGroupOffsets>
