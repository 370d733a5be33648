import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Lists moves of partitions that are under way (KIP-455).
 */
export const listPartitionReassignments = api({
  key: 46,
  name: 'ListPartitionReassignments',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    /** The time in ms to wait for the request to complete. */
    timeoutMs: int32({ default: 60_000 }),
    topics: array(
      {
        name: string(),
        partitionIndexes: array(int32()),
      },
      { nullable: '0+', default: null },
    ),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        replicas: array(int32()),
        /** The set of replicas we are currently adding. */
        addingReplicas: array(int32()),
        /** The set of replicas we are currently removing. */
        removingReplicas: array(int32()),
      }),
    }),
  },
})

export type ListPartitionReassignmentsRequest = RequestOf<typeof listPartitionReassignments>
export type ListPartitionReassignmentsResponse = ResponseOf<typeof listPartitionReassignments>
