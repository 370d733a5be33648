import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { int16, int32, int64 } from '../field.ts'

/**
 * Reserves a block of producer ids; sent by a broker to the controller (KIP-730).
 */
export const allocateProducerIds = api({
  key: 67,
  name: 'AllocateProducerIds',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    brokerId: int32(),
    brokerEpoch: int64({ default: -1n }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    producerIdStart: int64(),
    producerIdLen: int32(),
  },
})

export type AllocateProducerIdsRequest = RequestOf<typeof allocateProducerIds>
export type AllocateProducerIdsResponse = ResponseOf<typeof allocateProducerIds>
