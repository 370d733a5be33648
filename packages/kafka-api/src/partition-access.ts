import { kafkaErrors } from '@pico/kafka-codec'
import type { Partition, PartitionMiss, TopicRef } from '@pico/streams'

/** Kafka's error code for a partition that cannot be had. */
export const missErrorCode: Readonly<Record<PartitionMiss, number>> = {
  'unknown-topic': kafkaErrors.unknownTopicOrPartition.code,
  'unknown-topic-id': kafkaErrors.unknownTopicId.code,
  'unknown-partition': kafkaErrors.unknownTopicOrPartition.code,
  'not-owner': kafkaErrors.notLeaderOrFollower.code,
}

/** Since version 13 of Produce and Fetch a topic goes by its id alone (KIP-516). */
export function topicRef(topic: { readonly name: string; readonly topicId: string }, apiVersion: number): TopicRef {
  return apiVersion >= 13 ? { topicId: topic.topicId } : { name: topic.name }
}

/** Fencing of readers that know another leader epoch (KIP-320): -1 asks for no check. Zero when all is well. */
export function leaderEpochError(requestedEpoch: number, partition: Partition): number {
  if (requestedEpoch === -1 || requestedEpoch === partition.leaderEpoch) return kafkaErrors.none.code
  return requestedEpoch < partition.leaderEpoch
    ? kafkaErrors.fencedLeaderEpoch.code
    : kafkaErrors.unknownLeaderEpoch.code
}
