import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Creates the persistent state of a share group; sent by its coordinator (KIP-932).
 *
 * Errors: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, FENCED_STATE_EPOCH,
 * INVALID_REQUEST.
 */
export const initializeShareGroupState = api({
  key: 83,
  name: 'InitializeShareGroupState',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    topics: array({
      topicId: uuid(),
      partitions: array({
        partition: int32(),
        stateEpoch: int32(),
        /** The share-partition start offset, or -1 if the start offset is not being initialized. */
        startOffset: int64(),
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

export type InitializeShareGroupStateRequest = RequestOf<typeof initializeShareGroupState>
export type InitializeShareGroupStateResponse = ResponseOf<typeof initializeShareGroupState>
