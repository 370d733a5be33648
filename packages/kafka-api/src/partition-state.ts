import { kafkaErrors } from '@pico/kafka-codec'
import type { PartitionDescription } from '@pico/streams'
import type { Broker } from './dependencies.ts'

/** A partition as Metadata and DescribeTopicPartitions tell it: one replica, its leader, if that node is there. */
export function partitionState(
  { partition, leaderNodeId, leaderEpoch }: PartitionDescription,
  brokers: readonly Pick<Broker, 'nodeId'>[],
) {
  const replicas = leaderNodeId === null ? [] : [leaderNodeId]
  const hasLeader = brokers.some(({ nodeId }) => nodeId === leaderNodeId)
  return {
    errorCode: hasLeader ? kafkaErrors.none.code : kafkaErrors.leaderNotAvailable.code,
    partitionIndex: partition,
    leaderId: hasLeader && leaderNodeId !== null ? leaderNodeId : -1,
    leaderEpoch,
    replicaNodes: replicas,
    isrNodes: hasLeader ? replicas : [],
    offlineReplicas: hasLeader ? [] : replicas,
  }
}
