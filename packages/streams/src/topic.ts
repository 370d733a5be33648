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
  /** The leader epoch in force once this node has opened it. */
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
export function topicsOf(
  records: readonly TopicRow[],
  node: NodeIdentity,
  operatorDefaults: Readonly<Record<string, string>>,
): Topic[] {
  const byTopic = Map.groupBy(records, (record) => record.topicId)
  return [...byTopic.values()].map((rows) => {
    const [first] = rows
    assert(first !== undefined && first.topic !== null, 'the rows of a topic name it')
    const partitions = rows.toSorted((a, b) => a.partition - b.partition)
    return {
      name: first.topic,
      topicId: first.topicId,
      config: topicConfigInForce(first.config, operatorDefaults),
      partitions: partitions.map((row) => partitionOf(row, node)),
    }
  })
}

/**
 * Opening raises the leader epoch by one unless this node epoch had the stream already (StreamCatalog.open), so what it will be is
 * known without opening, and a description of ten thousand topics opens none.
 */
export function leaderEpochHere(
  { owner, leaderEpoch }: Pick<StreamRecord, 'owner' | 'leaderEpoch'>,
  node: NodeIdentity,
): number {
  const isOurs = owner !== null && owner.nodeId === node.nodeId && owner.nodeEpoch === node.nodeEpoch
  return isOurs ? leaderEpoch : leaderEpoch + 1
}

function partitionOf(row: TopicRow, node: NodeIdentity): TopicPartition {
  const { streamId, partition, expiresAtMs } = row
  return { partition, streamId, leaderEpoch: leaderEpochHere(row, node), expiresAtMs }
}

/** A stream that only HTTP knows, as a topic of one partition: which is all that opening it needs. */
export function topicOfPath(
  row: StreamRecord,
  node: NodeIdentity,
  operatorDefaults: Readonly<Record<string, string>>,
): Topic {
  const { name, topicId } = row
  const config = topicConfigInForce(row.config, operatorDefaults)
  return { name, topicId, config, partitions: [partitionOf(row, node)] }
}

export function describeTopic(topic: Topic, leaderNodeId: number): TopicDescription {
  const partitions = topic.partitions.map(({ partition, leaderEpoch }) => ({ partition, leaderNodeId, leaderEpoch }))
  return { name: topic.name, topicId: topic.topicId, config: topic.config, partitions }
}
