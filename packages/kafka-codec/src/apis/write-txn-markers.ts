import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, int64, string } from '../field.ts'

/**
 * Writes the commit or abort markers of transactions into partitions; sent between brokers.
 *
 * - v2 adds the version of the transaction protocol (KIP-1228).
 */
export const writeTxnMarkers = api({
  key: 27,
  name: 'WriteTxnMarkers',
  versions: [0, 2],
  flexibleFrom: 1,
  request: {
    markers: array({
      producerId: int64(),
      producerEpoch: int16(),
      /** The result of the transaction to write to the partitions (false = ABORT, true = COMMIT). */
      transactionResult: boolean(),
      /** Each topic that we want to write transaction marker(s) for. */
      topics: array({
        name: string(),
        partitionIndexes: array(int32()),
      }),
      /** Epoch associated with the transaction state partition hosted by this transaction coordinator. */
      coordinatorEpoch: int32(),
      /** Transaction version of the marker. Ex: 0/1 = legacy (TV0/TV1), 2 = TV2 etc. */
      transactionVersion: int8({ versions: '2+', default: 0, ignorable: true }),
    }),
  },
  response: {
    markers: array({
      /** The current producer ID in use by the transactional ID. */
      producerId: int64(),
      topics: array({
        name: string(),
        partitions: array({
          partitionIndex: int32(),
          errorCode: int16(),
        }),
      }),
    }),
  },
})

export type WriteTxnMarkersRequest = RequestOf<typeof writeTxnMarkers>
export type WriteTxnMarkersResponse = ResponseOf<typeof writeTxnMarkers>
