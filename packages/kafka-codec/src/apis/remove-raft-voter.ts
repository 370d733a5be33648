import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { int16, int32, string, uuid } from '../field.ts'

/**
 * Removes a voter from the metadata quorum (KIP-853).
 */
export const removeRaftVoter = api({
  key: 81,
  name: 'RemoveRaftVoter',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    clusterId: string({ nullable: '0+' }),
    /** The replica id of the voter getting removed from the topic partition. */
    voterId: int32(),
    /** The directory id of the voter getting removed from the topic partition. */
    voterDirectoryId: uuid(),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', ignorable: true }),
  },
})

export type RemoveRaftVoterRequest = RequestOf<typeof removeRaftVoter>
export type RemoveRaftVoterResponse = ResponseOf<typeof removeRaftVoter>
