import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string, uuid } from '../field.ts'

/**
 * Asks which client metrics the cluster wants (KIP-714).
 */
export const getTelemetrySubscriptions = api({
  key: 71,
  name: 'GetTelemetrySubscriptions',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    /** Unique id for this client instance, must be set to 0 on the first request. */
    clientInstanceId: uuid(),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    clientInstanceId: uuid(),
    /** Unique identifier for the current subscription set for this client instance. */
    subscriptionId: int32(),
    /** Compression types that broker accepts for the PushTelemetryRequest. */
    acceptedCompressionTypes: array(int8()),
    /** Configured push interval, which is the lowest configured interval in the current subscription set. */
    pushIntervalMs: int32(),
    /** The maximum bytes of binary data the broker accepts in PushTelemetryRequest. */
    telemetryMaxBytes: int32(),
    /** Flag to indicate monotonic/counter metrics are to be emitted as deltas or cumulative values. */
    deltaTemporality: boolean(),
    /**
     * Requested metrics prefix string match. Empty array: No metrics subscribed, Array[0] empty string: All metrics
     * subscribed.
     */
    requestedMetrics: array(string()),
  },
})

export type GetTelemetrySubscriptionsRequest = RequestOf<typeof getTelemetrySubscriptions>
export type GetTelemetrySubscriptionsResponse = ResponseOf<typeof getTelemetrySubscriptions>
