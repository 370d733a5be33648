import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string } from '../field.ts'

/**
 * Names the cluster, its controller and its brokers (KIP-700).
 *
 * - v1 asks for brokers or for controllers (KIP-919), and adds the errors MISMATCHED_ENDPOINT_TYPE and
 *   UNSUPPORTED_ENDPOINT_TYPE.
 * - v2 includes fenced brokers on request (KIP-1073).
 */
export const describeCluster = api({
  key: 60,
  name: 'DescribeCluster',
  versions: [0, 2],
  flexibleFrom: 0,
  request: {
    includeClusterAuthorizedOperations: boolean(),
    /** The endpoint type to describe. 1=brokers, 2=controllers. */
    endpointType: int8({ versions: '1+', default: 1 }),
    includeFencedBrokers: boolean({ versions: '2+' }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    /** The endpoint type that was described. 1=brokers, 2=controllers. */
    endpointType: int8({ versions: '1+', default: 1 }),
    clusterId: string(),
    /**
     * The ID of the controller. When handled by a controller, returns the current voter leader ID. When handled by a
     * broker, returns a random alive broker ID as a fallback.
     */
    controllerId: int32({ default: -1 }),
    brokers: array({
      brokerId: int32(),
      host: string(),
      port: int32(),
      rack: string({ nullable: '0+', default: null }),
      isFenced: boolean({ versions: '2+' }),
    }),
    /** 32-bit bitfield to represent authorized operations for this cluster. */
    clusterAuthorizedOperations: int32({ default: -2147483648 }),
  },
})

export type DescribeClusterRequest = RequestOf<typeof describeCluster>
export type DescribeClusterResponse = ResponseOf<typeof describeCluster>
