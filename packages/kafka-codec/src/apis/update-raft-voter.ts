import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string, struct, uint16, uuid } from '../field.ts'

/**
 * Updates the endpoints and versions of a voter of the metadata quorum (KIP-853).
 */
export const updateRaftVoter = api({
  key: 82,
  name: 'UpdateRaftVoter',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    clusterId: string({ nullable: '0+' }),
    currentLeaderEpoch: int32(),
    /** The replica id of the voter getting updated in the topic partition. */
    voterId: int32(),
    /** The directory id of the voter getting updated in the topic partition. */
    voterDirectoryId: uuid(),
    /** The endpoint that can be used to communicate with the leader. */
    listeners: array({
      name: string(),
      host: string(),
      port: uint16(),
    }),
    /** The range of versions of the protocol that the replica supports. */
    kRaftVersionFeature: struct({
      minSupportedVersion: int16(),
      maxSupportedVersion: int16(),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    currentLeader: struct(
      {
        leaderId: int32({ default: -1 }),
        leaderEpoch: int32({ default: -1 }),
        host: string(),
        port: int32(),
      },
      { tag: 0 },
    ),
  },
})

export type UpdateRaftVoterRequest = RequestOf<typeof updateRaftVoter>
export type UpdateRaftVoterResponse = ResponseOf<typeof updateRaftVoter>
