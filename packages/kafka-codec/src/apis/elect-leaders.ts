import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Elects the preferred, or any unclean, replica as the leader of partitions (KIP-460).
 *
 * - v1 adds the type of election and an error code for the whole (KIP-460).
 */
export const electLeaders = api({
  key: 43,
  name: 'ElectLeaders',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    /**
     * Type of elections to conduct for the partition. A value of '0' elects the preferred replica. A value of '1'
     * elects the first live replica if there are no in-sync replica.
     */
    electionType: int8({ versions: '1+' }),
    topicPartitions: array(
      {
        topic: string(),
        /** The partitions of this topic whose leader should be elected. */
        partitions: array(int32()),
      },
      { nullable: '0+' },
    ),
    /** The time in ms to wait for the election to complete. */
    timeoutMs: int32({ default: 60_000 }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16({ versions: '1+' }),
    /**
     * The election results, or an empty array if the requester did not have permission and the request asks for all
     * partitions.
     */
    replicaElectionResults: array({
      topic: string(),
      partitionResult: array({
        partitionId: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
      }),
    }),
  },
})

export type ElectLeadersRequest = RequestOf<typeof electLeaders>
export type ElectLeadersResponse = ResponseOf<typeof electLeaders>
