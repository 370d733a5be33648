import type { Extent } from './log-index.ts'
import type { NodeIdentity } from './node-registry.ts'

/** A stream's row. A topic's partition p is a stream; so is a stream that only HTTP knows (`topic` null). */
export interface StreamRecord {
  readonly streamId: number
  /** `/orders/eu`. Unique. */
  readonly name: string
  readonly topic: string | null
  readonly partition: number
  /** RFC 4122 text, lower case. One id per topic (shared by its partitions), new when a name is created again. */
  readonly topicId: string
  readonly contentType: string
  /** Topic settings that were set, by their Kafka names; what is not here has its default. */
  readonly config: Readonly<Record<string, string>>
  readonly createdAtMs: number
  /** Node that has it, or had it last. */
  readonly owner: NodeIdentity | null
  /** Kafka's leader epoch: +1 whenever another node epoch opens the stream. 0 = never opened. */
  readonly leaderEpoch: number
  /** The trim watermark. */
  readonly startOffset: number
  /** End of what extents cover: un-packed WAL entries of the owner's current epoch come after it. */
  readonly packedOffset: number
}

export interface NewStream {
  readonly name: string
  readonly topic: string | null
  readonly partition: number
  readonly topicId: string
  readonly contentType: string
  readonly config: Readonly<Record<string, string>>
}

/** A stream as its new owner finds it. */
export interface OpenedStream extends StreamRecord {
  /** Ascending, gapless from at or before `startOffset` to `packedOffset`. */
  readonly extents: readonly Extent[]
  /** The engine user's state as of `packedOffset` (for Kafka: the producers), or null. */
  readonly state: Uint8Array | null
}

export interface LeaderEpochStart {
  readonly leaderEpoch: number
  /** End of the log when that epoch began. */
  readonly startOffset: number
}

export interface StreamCatalog {
  /**
   * Creates all of them or none.
   * @throws StreamExistsError naming the first whose name, or topic and partition, is taken. A topic also collides with one that
   * is equal after `.` -> `_` (Kafka's rule for metric names): TopicCollisionError naming the other topic.
   */
  create(streams: readonly NewStream[], nowMs: number): Promise<StreamRecord[]>
  byName(names: readonly string[]): Promise<StreamRecord[]>
  /** All partitions of those topics, by topic, then partition. Unknown ones are left out. */
  byTopic(topics: readonly string[]): Promise<StreamRecord[]>
  byTopicId(topicIds: readonly string[]): Promise<StreamRecord[]>
  byStreamId(streamIds: readonly number[]): Promise<StreamRecord[]>
  /** Every topic's partitions, in topic order, a page at a time: topics strictly after `after`, at most `limit` streams (whole topics only). */
  listTopics(page: { after: string | null; limit: number }): Promise<StreamRecord[]>
  /** Streams by name order. */
  list(page: { prefix: string; after: string | null; limit: number }): Promise<StreamRecord[]>
  count(): Promise<number>
  /**
   * Makes `node` the owner of those streams and returns what it needs to serve them. Where the owner was another node epoch, the
   * leader epoch goes up by one and its start is remembered. Unknown ids are left out. @throws FencedError
   */
  open(node: NodeIdentity, streamIds: readonly number[]): Promise<OpenedStream[]>
  leaderEpochs(streamId: number): Promise<LeaderEpochStart[]>
  /** Replaces the settings. False when the stream is gone. */
  setConfig(streamId: number, config: Readonly<Record<string, string>>): Promise<boolean>
  /**
   * Moves the trim watermark up (never down), drops extents that end at or before it, and dooms objects nothing points into any
   * more. Returns the watermark now in force, or null when the stream is gone. @throws FencedError when `node` is not the owner.
   */
  trim(node: NodeIdentity, streamId: number, startOffset: number, nowMs: number): Promise<number | null>
  /** Deletes the streams with all that belongs to them, and dooms objects nothing points into any more. Returns the ids that were there. */
  delete(streamIds: readonly number[], nowMs: number): Promise<number[]>
  /**
   * Streams that retention may trim: for each, the offset to trim to by its `retention.ms` / `retention.bytes` settings, looking
   * at whole extents only, oldest first. Cost must not grow with streams that set neither.
   */
  retentionDue(nowMs: number, limit: number): Promise<{ streamId: number; trimTo: number }[]>
}
