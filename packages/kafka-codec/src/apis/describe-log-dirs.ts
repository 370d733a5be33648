import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, int64, string } from '../field.ts'

/**
 * Says how much space each partition takes in each log directory (KIP-113).
 *
 * - v3 adds an error code for the whole.
 * - v4 adds the total and usable bytes of the volume.
 * - v5 says whether a directory is cordoned.
 */
export const describeLogDirs = api({
  key: 35,
  name: 'DescribeLogDirs',
  versions: [0, 5],
  flexibleFrom: 2,
  request: {
    /** Each topic that we want to describe log directories for, or null for all topics. */
    topics: array(
      {
        topic: string(),
        partitions: array(int32()),
      },
      { nullable: '0+' },
    ),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16({ versions: '3+', ignorable: true }),
    results: array({
      errorCode: int16(),
      logDir: string(),
      topics: array({
        name: string(),
        partitions: array({
          partitionIndex: int32(),
          partitionSize: int64(),
          /**
           * The lag of the log's LEO w.r.t. partition's HW (if it is the current log for the partition) or current replica's
           * LEO (if it is the future log for the partition).
           */
          offsetLag: int64(),
          /**
           * True if this log is created by AlterReplicaLogDirsRequest and will replace the current log of the replica in the
           * future.
           */
          isFutureKey: boolean(),
        }),
      }),
      /**
       * The total size in bytes of the volume the log directory is in. This value does not include the size of data
       * stored in remote storage.
       */
      totalBytes: int64({ versions: '4+', default: -1n, ignorable: true }),
      /**
       * The usable size in bytes of the volume the log directory is in. This value does not include the size of data
       * stored in remote storage.
       */
      usableBytes: int64({ versions: '4+', default: -1n, ignorable: true }),
      isCordoned: boolean({ versions: '5+', default: false, ignorable: true }),
    }),
  },
})

export type DescribeLogDirsRequest = RequestOf<typeof describeLogDirs>
export type DescribeLogDirsResponse = ResponseOf<typeof describeLogDirs>
