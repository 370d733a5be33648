import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Reads the persistent state of a share group; sent by a share-partition leader (KIP-932).
 *
 * Errors: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND,
 * UNKNOWN_TOPIC_OR_PARTITION, FENCED_LEADER_EPOCH, INVALID_REQUEST.
 */
export const readShareGroupState = api({
  key: 84,
  name: 'ReadShareGroupState',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    topics: array({
      topicId: uuid(),
      partitions: array({
        partition: int32(),
        leaderEpoch: int32(),
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
        stateEpoch: int32(),
        /** The share-partition start offset, which can be -1 if it is not yet initialized. */
        startOffset: int64(),
        stateBatches: array({
          firstOffset: int64(),
          lastOffset: int64(),
          /** The delivery state - 0:Available,2:Acked,4:Archived. */
          deliveryState: int8(),
          deliveryCount: int16(),
        }),
      }),
    }),
  },
})

export type ReadShareGroupStateRequest = RequestOf<typeof readShareGroupState>
export type ReadShareGroupStateResponse = ResponseOf<typeof readShareGroupState>
