import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string, uuid } from '../field.ts'

/**
 * Deletes the persistent state of a share group; sent by its coordinator (KIP-932).
 *
 * Errors: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND,
 * UNKNOWN_TOPIC_OR_PARTITION, FENCED_STATE_EPOCH, INVALID_REQUEST.
 */
export const deleteShareGroupState = api({
  key: 86,
  name: 'DeleteShareGroupState',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    topics: array({
      topicId: uuid(),
      partitions: array({
        partition: int32(),
      }),
    }),
  },
  response: {
    results: array({
      topicId: uuid(),
      partitions: array({
        partition: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
      }),
    }),
  },
})

export type DeleteShareGroupStateRequest = RequestOf<typeof deleteShareGroupState>
export type DeleteShareGroupStateResponse = ResponseOf<typeof deleteShareGroupState>
