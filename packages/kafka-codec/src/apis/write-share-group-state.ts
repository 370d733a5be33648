import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Writes the persistent state of a share group; sent by a share-partition leader (KIP-932).
 *
 * - v1 adds DeliveryCompleteCount (KIP-1226).
 *
 * Errors: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND,
 * UNKNOWN_TOPIC_OR_PARTITION, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH, INVALID_REQUEST.
 */
export const writeShareGroupState = api({
  key: 85,
  name: 'WriteShareGroupState',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    topics: array({
      topicId: uuid(),
      partitions: array({
        partition: int32(),
        stateEpoch: int32(),
        leaderEpoch: int32(),
        /** The share-partition start offset, or -1 if the start offset is not being written. */
        startOffset: int64(),
        /**
         * The number of offsets greater than or equal to share-partition start offset for which delivery has been
         * completed.
         */
        deliveryCompleteCount: int32({ versions: '1+', default: -1, ignorable: true }),
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

export type WriteShareGroupStateRequest = RequestOf<typeof writeShareGroupState>
export type WriteShareGroupStateResponse = ResponseOf<typeof writeShareGroupState>
