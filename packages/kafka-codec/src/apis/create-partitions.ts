import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, string } from '../field.ts'

/**
 * Raises the number of partitions of topics (KIP-195).
 *
 * - v3 adds the error THROTTLING_QUOTA_EXCEEDED (KIP-599).
 */
export const createPartitions = api({
  key: 37,
  name: 'CreatePartitions',
  versions: [0, 3],
  flexibleFrom: 2,
  request: {
    /** Each topic that we want to create new partitions inside. */
    topics: array({
      name: string(),
      count: int32(),
      assignments: array(
        {
          brokerIds: array(int32()),
        },
        { nullable: '0+' },
      ),
    }),
    timeoutMs: int32(),
    /** If true, then validate the request, but don't actually increase the number of partitions. */
    validateOnly: boolean(),
  },
  response: {
    throttleTimeMs: int32(),
    results: array({
      name: string(),
      errorCode: int16(),
      errorMessage: string({ nullable: '0+', default: null }),
    }),
  },
})

export type CreatePartitionsRequest = RequestOf<typeof createPartitions>
export type CreatePartitionsResponse = ResponseOf<typeof createPartitions>
