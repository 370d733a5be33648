import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, string, uint16, uuid } from '../field.ts'

/**
 * Adds a voter to the metadata quorum (KIP-853).
 *
 * - v1 adds AckWhenCommitted.
 */
export const addRaftVoter = api({
  key: 80,
  name: 'AddRaftVoter',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    clusterId: string({ nullable: '0+' }),
    /** The maximum time to wait for the request to complete before returning. */
    timeoutMs: int32(),
    /** The replica id of the voter getting added to the topic partition. */
    voterId: int32(),
    /** The directory id of the voter getting added to the topic partition. */
    voterDirectoryId: uuid(),
    /** The endpoints that can be used to communicate with the voter. */
    listeners: array({
      name: string(),
      host: string(),
      port: uint16(),
    }),
    /**
     * When true, return a response after the new voter set is committed. Otherwise, return after the leader writes the
     * changes locally.
     */
    ackWhenCommitted: boolean({ versions: '1+', default: true }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', ignorable: true }),
  },
})

export type AddRaftVoterRequest = RequestOf<typeof addRaftVoter>
export type AddRaftVoterResponse = ResponseOf<typeof addRaftVoter>
