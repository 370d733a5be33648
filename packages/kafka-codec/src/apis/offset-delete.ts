import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string } from '../field.ts'

/**
 * Deletes committed offsets of a group (KIP-496).
 */
export const offsetDelete = api({
  key: 47,
  name: 'OffsetDelete',
  versions: [0, 0],
  request: {
    groupId: string(),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
      }),
    }),
  },
  response: {
    errorCode: int16(),
    throttleTimeMs: int32({ ignorable: true }),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
      }),
    }),
  },
})

export type OffsetDeleteRequest = RequestOf<typeof offsetDelete>
export type OffsetDeleteResponse = ResponseOf<typeof offsetDelete>
