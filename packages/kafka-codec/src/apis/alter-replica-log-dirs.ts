import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Moves replicas between the log directories of a broker (KIP-113).
 */
export const alterReplicaLogDirs = api({
  key: 34,
  name: 'AlterReplicaLogDirs',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    dirs: array({
      path: string(),
      topics: array({
        name: string(),
        partitions: array(int32()),
      }),
    }),
  },
  response: {
    /**
     * Duration in milliseconds for which the request was throttled due to a quota violation, or zero if the request
     * did not violate any quota.
     */
    throttleTimeMs: int32(),
    results: array({
      topicName: string(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
      }),
    }),
  },
})

export type AlterReplicaLogDirsRequest = RequestOf<typeof alterReplicaLogDirs>
export type AlterReplicaLogDirsResponse = ResponseOf<typeof alterReplicaLogDirs>
