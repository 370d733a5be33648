import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Reads the offsets, without the details, of the persistent state of a share group (KIP-932).
 *
 * - v1 adds DeliveryCompleteCount (KIP-1226).
 *
 * Errors: NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, GROUP_ID_NOT_FOUND,
 * UNKNOWN_TOPIC_OR_PARTITION, FENCED_LEADER_EPOCH, INVALID_REQUEST.
 */
export const readShareGroupStateSummary = api({
  key: 87,
  name: 'ReadShareGroupStateSummary',
  versions: [0, 1],
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
        leaderEpoch: int32(),
        startOffset: int64(),
        /**
         * The number of offsets greater than or equal to share-partition start offset for which delivery has been
         * completed.
         */
        deliveryCompleteCount: int32({ versions: '1+', default: -1, ignorable: true }),
      }),
    }),
  },
})

export type ReadShareGroupStateSummaryRequest = RequestOf<typeof readShareGroupStateSummary>
export type ReadShareGroupStateSummaryResponse = ResponseOf<typeof readShareGroupStateSummary>
