import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, string } from '../field.ts'

/**
 * Starts or cancels moves of partitions to other brokers (KIP-455).
 *
 * - v1 can forbid a change of the replication factor.
 */
export const alterPartitionReassignments = api({
  key: 45,
  name: 'AlterPartitionReassignments',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    /** The time in ms to wait for the request to complete. */
    timeoutMs: int32({ default: 60_000 }),
    /**
     * The option indicating whether changing the replication factor of any given partition as part of this request is
     * a valid move.
     */
    allowReplicationFactorChange: boolean({ versions: '1+', default: true }),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        /**
         * The replicas to place the partitions on, or null to cancel a pending reassignment for this partition.
         */
        replicas: array(int32(), { nullable: '0+', default: null }),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    /**
     * The option indicating whether changing the replication factor of any given partition as part of the request was
     * allowed.
     */
    allowReplicationFactorChange: boolean({ versions: '1+', default: true, ignorable: true }),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    responses: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
      }),
    }),
  },
})

export type AlterPartitionReassignmentsRequest = RequestOf<typeof alterPartitionReassignments>
export type AlterPartitionReassignmentsResponse = ResponseOf<typeof alterPartitionReassignments>
