import { describeCluster, kafkaErrors } from '@pico/kafka-codec'
import { allClusterOperations, operationsNotAsked } from '../authorized-operations.ts'
import { controllerId, type Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * DescribeCluster 0-1 (KIP-700): live nodes as they advertise themselves, and the controller that Metadata names.
 * v1: clients that ask for controllers are told that these are brokers.
 * Left out: v2, which would list fenced brokers.
 */

const endpoints = { brokers: 1, controllers: 2 } as const

export function describeClusterHandler({ streams, cluster }: Dependencies): Handler {
  return handler({
    api: describeCluster,
    versions: [0, 1],
    handle({ endpointType, includeClusterAuthorizedOperations }) {
      if (endpointType === endpoints.controllers) {
        return failed(kafkaErrors.mismatchedEndpointType.code, 'This is a broker, not a controller.', endpointType)
      }
      if (endpointType !== endpoints.brokers) {
        return failed(
          kafkaErrors.unsupportedEndpointType.code,
          `Unsupported endpoint type ${endpointType}`,
          endpointType,
        )
      }
      const brokers = cluster.brokers()
      return {
        throttleTimeMs: 0,
        errorCode: 0,
        clusterId: streams.clusterId,
        controllerId: controllerId(brokers),
        brokers: brokers.map(({ nodeId, host, port, rack }) => ({
          brokerId: nodeId,
          host,
          port,
          rack,
          isFenced: false,
        })),
        clusterAuthorizedOperations: includeClusterAuthorizedOperations ? allClusterOperations : operationsNotAsked,
      }
    },
    fail: ({ endpointType }, errorCode) => failed(errorCode, null, endpointType),
  })
}

function failed(errorCode: number, errorMessage: string | null, endpointType: number) {
  return { throttleTimeMs: 0, errorCode, errorMessage, endpointType, clusterId: '', brokers: [] }
}
