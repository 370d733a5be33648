import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string } from '../field.ts'

/**
 * Lists the active producers of partitions (KIP-664).
 */
export const describeProducers = api({
  key: 61,
  name: 'DescribeProducers',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    topics: array({
      name: string(),
      partitionIndexes: array(int32()),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        /** The partition error message, which may be null if no additional details are available. */
        errorMessage: string({ nullable: '0+', default: null }),
        activeProducers: array({
          producerId: int64(),
          producerEpoch: int32(),
          lastSequence: int32({ default: -1 }),
          lastTimestamp: int64({ default: -1n }),
          coordinatorEpoch: int32(),
          currentTxnStartOffset: int64({ default: -1n }),
        }),
      }),
    }),
  },
})

export type DescribeProducersRequest = RequestOf<typeof describeProducers>
export type DescribeProducersResponse = ResponseOf<typeof describeProducers>
