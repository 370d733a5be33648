export type {
  AppendAccepted,
  AppendContext,
  AppendOutcome,
  AppendRefusal,
  Partition,
  PartitionChange,
  ProducerDescription,
  TimestampHit,
} from './partition.ts'
export type {
  CreateTopicOutcome,
  CreateTopicRefusal,
  NewTopic,
  PartitionDescription,
  PartitionMiss,
  Streams,
  TopicDescription,
  TopicRef,
} from './streams.ts'
export type { TopicConfig } from './topic-config.ts'
