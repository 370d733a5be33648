import type { InternalStreams } from './internal-streams.ts'
import type { Partition } from './partition.ts'
import type { PathStreams } from './path-streams.ts'
import type { TopicConfig } from './topic-config.ts'

/** A topic as Kafka clients see it. */
export interface TopicDescription {
  readonly name: string
  /** RFC 4122 text, lower case. */
  readonly topicId: string
  readonly config: TopicConfig
  readonly partitions: readonly PartitionDescription[]
}

export interface PartitionDescription {
  readonly partition: number
  /** Null while nobody leads it: ask again. */
  readonly leaderNodeId: number | null
  readonly leaderEpoch: number
}

export interface PartitionSize {
  readonly partition: number
  readonly sizeBytes: number
}

export interface NewTopic {
  readonly name: string
  readonly partitions: number
  /** Settings by their Kafka names. */
  readonly config: Readonly<Record<string, string>>
  /** Check everything, create nothing. */
  readonly validateOnly: boolean
}

/** Why a topic was not created. Each has one Kafka error code and one HTTP status, given at the edge. */
export type CreateTopicRefusal =
  | { readonly kind: 'topic-exists' }
  | { readonly kind: 'invalid-name'; readonly message: string }
  | { readonly kind: 'name-collision'; readonly message: string }
  | { readonly kind: 'invalid-partitions'; readonly message: string }
  | { readonly kind: 'invalid-config'; readonly message: string }

export type CreateTopicOutcome =
  | { readonly created: TopicDescription; readonly refused?: never }
  | { readonly created?: never; readonly refused: CreateTopicRefusal }

/** Settings of a topic as they are to be, given those that were set before; or what is wrong with that. */
export type TopicConfigChange = (
  overrides: Readonly<Record<string, string>>,
) => { readonly overrides: Readonly<Record<string, string>> } | { readonly invalid: string }

export type AlterTopicOutcome =
  | { readonly altered: TopicDescription; readonly refused?: never }
  | {
      readonly altered?: never
      readonly refused:
        | { readonly kind: 'unknown-topic' }
        | { readonly kind: 'invalid-config' | 'invalid-partitions'; readonly message: string }
    }

/** A topic by name, or by id where the protocol gives only that. */
export type TopicRef =
  | { readonly name: string; readonly topicId?: never }
  | { readonly topicId: string; readonly name?: never }

export type PartitionMiss = 'unknown-topic' | 'unknown-topic-id' | 'unknown-partition' | 'not-owner'

/** Told of a topic once it is gone for good. Must not throw. */
export type TopicDeletionWatcher = (topic: DeletedTopic) => void

export interface DeletedTopic {
  readonly topicId: string
  /** Null where another node deleted it, and its name is not known any more. */
  readonly name: string | null
}

/**
 * The one door for every front end: names, topics, and the streams behind them. What the database or the store cannot do right now
 * rejects with MetadataUnavailableError, AppendFailedError or ReadFailedError: all retriable. So is PartitionGoneError, of a partition
 * that was kept for too long: look it up again.
 */
export interface Streams {
  readonly clusterId: string
  readonly nodeId: number
  /** False while this node may serve nothing: for all it knows, others have its streams. */
  readonly isServing: boolean
  /** Topic settings in force where a topic has none of its own, by their Kafka names. */
  readonly topicDefaults: Readonly<Record<string, string>>

  createTopic(topic: NewTopic): Promise<CreateTopicOutcome>
  /** In force on every open partition when it resolves. `validateOnly` checks everything, and changes nothing. */
  alterTopicConfig(topic: TopicRef, change: TopicConfigChange, validateOnly: boolean): Promise<AlterTopicOutcome>
  /** Raises the number of partitions to `count`; each new one is a stream of its own. */
  createPartitions(topic: TopicRef, count: number, validateOnly: boolean): Promise<AlterTopicOutcome>
  /** False when there is no such topic. Waiters on its partitions wake, appends in flight reject. */
  deleteTopic(topic: TopicRef): Promise<boolean>
  /**
   * Calls back on every deletion, perhaps more than once, until the returned function is called: before `deleteTopic` resolves where it
   * went through here, else as soon as this node learns of it.
   */
  watchTopicDeletions(watcher: TopicDeletionWatcher): () => void
  /**
   * Those topics, in the order asked for, undefined where unknown. Nothing is opened: the leader epochs told are those in force once
   * the partitions are.
   */
  describeTopics(topics: readonly TopicRef[]): Promise<(TopicDescription | undefined)[]>
  /** Every topic whose name comes after `after`, in name order, without opening anything. */
  listTopics(after?: string | null): AsyncIterable<TopicDescription>
  /** Bytes that each partition of those topics holds, about, in the order asked for; undefined where unknown. Opens nothing. */
  topicSizes(topics: readonly TopicRef[]): Promise<(readonly PartitionSize[] | undefined)[]>

  /**
   * The partition, open for append and read. Synchronous when it is open already, which is what keeps appends in arrival order
   * without a queue; otherwise whoever asks first opens it and the others wait for the same opening.
   */
  partition(topic: TopicRef, partition: number): Partition | PartitionMiss | Promise<Partition | PartitionMiss>

  /** Streams by their paths, as HTTP names them: topics among them. */
  readonly paths: PathStreams

  /** Our own streams, which are no topics. */
  readonly internal: InternalStreams

  /** An id never given out before, over all nodes and restarts (KIP-98; epoch 0 goes with it). */
  allocateProducerId(): Promise<number>

  /** See Log. */
  hasRoom(): boolean
  whenRoom(): Promise<void>
  /**
   * Takes nothing from now on, wakes who waits, has all that is here taken over into extents, and gives every stream up: other nodes may
   * have them when it resolves. The log is closed then; whoever asks is told who has the streams.
   */
  handOver(): Promise<void>
  /** Takes nothing from now on, wakes who waits, and resolves when what is in flight is settled. The log and the database stay open. */
  close(): Promise<void>
}
