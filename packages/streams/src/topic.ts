import { strict as assert } from 'node:assert'
import type { NodeIdentity, StreamRecord } from '@pico/metadata'
import type { TopicDescription } from './streams.ts'
import { type TopicConfig, topicConfigInForce } from './topic-config.ts'

/** A topic as its rows say. */
export interface Topic {
  readonly name: string
  readonly topicId: string
  readonly config: TopicConfig
  /** By partition. */
  readonly partitions: readonly TopicPartition[]
}

export interface TopicPartition {
  readonly partition: number
  readonly streamId: number
  /** As its row said: who has it, or had it last, and in which leader epoch. */
  readonly owner: NodeIdentity | null
  readonly leaderEpoch: number
  /** As its row said; null = never. */
  readonly expiresAtMs: number | null
}

/** What a topic is made of. */
export type TopicRow = Pick<
  StreamRecord,
  'streamId' | 'topic' | 'topicId' | 'partition' | 'config' | 'owner' | 'leaderEpoch' | 'expiresAtMs'
>

/** The topics that these rows of partitions belong to, in the order of their first rows. Rows of one topic are complete. */
export function topicsOf(records: readonly TopicRow[], operatorDefaults: Readonly<Record<string, string>>): Topic[] {
  const byTopic = Map.groupBy(records, (record) => record.topicId)
  return [...byTopic.values()].map((rows) => {
    const [first] = rows
    assert(first !== undefined && first.topic !== null, 'the rows of a topic name it')
    const partitions = rows.toSorted((a, b) => a.partition - b.partition)
    return {
      name: first.topic,
      topicId: first.topicId,
      config: topicConfigInForce(first.config, operatorDefaults),
      partitions: partitions.map(partitionOf),
    }
  })
}

function partitionOf({ streamId, partition, owner, leaderEpoch, expiresAtMs }: TopicRow): TopicPartition {
  return { partition, streamId, owner, leaderEpoch, expiresAtMs }
}

/** A stream that only HTTP knows, as a topic of one partition: which is all that opening it needs. */
export function topicOfPath(row: StreamRecord, operatorDefaults: Readonly<Record<string, string>>): Topic {
  const { name, topicId } = row
  const config = topicConfigInForce(row.config, operatorDefaults)
  return { name, topicId, config, partitions: [partitionOf(row)] }
}

/** Who leads a partition, and in which leader epoch. */
export interface Leader {
  /** Null while nobody does. */
  readonly nodeId: number | null
  readonly leaderEpoch: number
}

export function describeTopic(topic: Topic, leaderOf: (partition: TopicPartition) => Leader): TopicDescription {
  const partitions = topic.partitions.map((partition) => {
    const { nodeId, leaderEpoch } = leaderOf(partition)
    return { partition: partition.partition, leaderNodeId: nodeId, leaderEpoch }
  })
  return { name: topic.name, topicId: topic.topicId, config: topic.config, partitions }
}
