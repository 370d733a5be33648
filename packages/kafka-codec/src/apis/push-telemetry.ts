import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { boolean, bytes, int8, int16, int32, uuid } from '../field.ts'

/**
 * Sends client metrics (KIP-714).
 */
export const pushTelemetry = api({
  key: 72,
  name: 'PushTelemetry',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    clientInstanceId: uuid(),
    subscriptionId: int32(),
    terminating: boolean(),
    /** Compression codec used to compress the metrics. */
    compressionType: int8(),
    /** Metrics encoded in OpenTelemetry MetricsData v1 protobuf format. */
    metrics: bytes(),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
  },
})

export type PushTelemetryRequest = RequestOf<typeof pushTelemetry>
export type PushTelemetryResponse = ResponseOf<typeof pushTelemetry>
