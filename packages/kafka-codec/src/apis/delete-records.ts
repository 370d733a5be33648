import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string } from '../field.ts'

/**
 * Deletes the records of a partition below an offset.
 */
export const deleteRecords = api({
  key: 21,
  name: 'DeleteRecords',
  versions: [0, 2],
  flexibleFrom: 2,
  request: {
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        /** The deletion offset. -1 means that records should be truncated to the high watermark. */
        offset: int64(),
      }),
    }),
    /** How long to wait for the deletion to complete, in milliseconds. */
    timeoutMs: int32(),
  },
  response: {
    throttleTimeMs: int32(),
    topics: array({
      name: string(),
      partitions: array({
        partitionIndex: int32(),
        lowWatermark: int64(),
        errorCode: int16(),
      }),
    }),
  },
})

export type DeleteRecordsRequest = RequestOf<typeof deleteRecords>
export type DeleteRecordsResponse = ResponseOf<typeof deleteRecords>
