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
  readonly life: StreamLife
  /** Nothing may be appended any more. */
  readonly isClosed: boolean
  /** Who closed it, in the engine user's own words; null where nobody in particular did. */
  readonly closedBy: string | null
  /** From then on the stream counts as absent; null = never. Whoever looks it up compares, this package only sweeps. */
  readonly expiresAtMs: number | null
  /** `expiresAtMs` is put off to so long after each use, by `renew`; null where it is fixed. */
  readonly idleTtlMs: number | null
  readonly fork: StreamFork | null
  /** Node that has it, or had it last. */
  readonly owner: NodeIdentity | null
  /** Kafka's leader epoch: +1 whenever another node epoch opens the stream. 0 = never opened. */
  readonly leaderEpoch: number
  /** The trim watermark. */
  readonly startOffset: number
  /** End of what extents cover: un-packed WAL entries of the owner's current epoch come after it. */
  readonly packedOffset: number
  /** Bytes of its extents. */
  readonly packedBytes: number
}

/**
 * 'creating': its first entries are on their way, and it counts as absent until `reveal`. 'gone': deleted, but there are forks of it, so
 * its name stays taken; it has neither topic nor extents any more, and ends with the last of its forks.
 */
export type StreamLife = 'creating' | 'live' | 'gone'

/** Where a stream was forked off, as whoever asked for it said. */
export interface StreamFork {
  readonly sourceStreamId: number
  readonly sourceName: string
  readonly offset: number
  readonly subOffset: number
}

export interface NewStream {
  readonly name: string
  readonly topic: string | null
  readonly partition: number
  readonly topicId: string
  readonly contentType: string
  readonly config: Readonly<Record<string, string>>
  /** Default 'live'. */
  readonly life?: 'creating' | 'live'
  /** Default false. */
  readonly isClosed?: boolean
  /** Default null. */
  readonly expiresAtMs?: number | null
  /** Default null. */
  readonly idleTtlMs?: number | null
}

export interface NewFork {
  readonly stream: NewStream
  readonly sourceStreamId: number
  /** What `StreamRecord.fork` tells: as whoever asked for the fork said. */
  readonly offset: number
  readonly subOffset: number
  readonly sharedEnd: number
  /** The extent of the source that `sharedEnd` lies in, if there is one, and what of it lies before. */
  readonly cut: ExtentCut | null
}

export interface ExtentCut {
  /** As the source has it: `objectId` and `position` have to be what they were. */
  readonly extent: Pick<Extent, 'baseOffset' | 'objectId' | 'position'>
  readonly lengthBytes: number
  readonly maxTimestampMs: number
  /** Of these bytes; null as the extent's is. */
  readonly crc32c: number | null
}

/** A stream as its new owner finds it. */
export interface OpenedStream extends StreamRecord {
  /** Ascending, gapless from at or before `startOffset` to `packedOffset`. */
  readonly extents: readonly Extent[]
  /** End of the log when its leader epoch began. */
  readonly epochStartOffset: number
  /** The engine user's state as of `packedOffset` (for Kafka: the producers), or null. */
  readonly state: Uint8Array | null
}

/** Where a stream is: requests for it belong there. */
export interface StreamPlace {
  readonly streamId: number
  readonly leaderEpoch: number
  /**
   * Its owner, which is live; or why it has none: the WAL of the fenced node that had it is still to be adopted, or no live node has
   * a slot.
   */
  readonly owner: NodeIdentity | 'unadopted' | 'no-node'
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
   * is equal after `.` -> `_` (Kafka's rule for metric names): TopicCollisionError naming the other topic. So say this and all that sets
   * settings: SchemaMissingError when `pico.schema`, which is `name:version` here, names a version that is not there.
   */
  create(streams: readonly NewStream[], nowMs: number): Promise<StreamRecord[]>
  /** This and the look-ups below: in the order asked for, each once, unknown ones left out. */
  byName(names: readonly string[]): Promise<StreamRecord[]>
  /** All partitions of those topics, by partition within each. */
  byTopic(topics: readonly string[]): Promise<StreamRecord[]>
  byTopicId(topicIds: readonly string[]): Promise<StreamRecord[]>
  byStreamId(streamIds: readonly number[]): Promise<StreamRecord[]>
  /**
   * Every topic's partitions, in byte order of topics, a page at a time: topics strictly after `after`, at most `limit` streams, whole
   * topics only. A topic with more partitions than that is a page of its own, or no page would get past it.
   */
  listTopics(page: { after: string | null; limit: number }): Promise<StreamRecord[]>
  /** Streams whose name begins with `prefix` and comes after `after`, in byte order of names. */
  list(page: { prefix: string; after: string | null; limit: number }): Promise<StreamRecord[]>
  count(): Promise<number>
  /**
   * Makes `node` the owner of those streams and returns what it needs to serve them. Where the owner was another node epoch, the
   * leader epoch goes up by one and its start is remembered. Left out are unknown ids, those that another live node owns, and those of
   * a fenced node whose WAL has not been adopted yet; the others come in the order asked for.
   * Opening again for the same node epoch changes nothing. @throws FencedError
   */
  open(node: NodeIdentity, streamIds: readonly number[]): Promise<OpenedStream[]>
  /**
   * Where those streams are, and gives those that nobody has to the live node with the lowest ratio of streams to slots (the lowest id
   * among equals), or to the target of a transfer that is pending: that node is then the owner, as if it had opened them.
   * Unknown ids are left out; the others come in the order asked for.
   */
  place(streamIds: readonly number[], nowMs: number): Promise<StreamPlace[]>
  /** Gives up streams that `node` owns, whose entries are all in extents (invariant B): whoever is asked for them next may have them. */
  release(node: NodeIdentity, streamIds: readonly number[]): Promise<void>
  /** Streams that the latest epochs of nodes own, by node id; nodes with none are left out. */
  ownedCounts(): Promise<{ nodeId: number; streams: number }[]>
  /** Ids of the streams that a node epoch owns, lowest first, after `afterStreamId`. */
  ownedBy(node: NodeIdentity, page: { afterStreamId: number; limit: number }): Promise<number[]>
  /** Ascending. As in a Kafka broker, epochs in which nothing was written, or of which all is trimmed, are forgotten. */
  leaderEpochs(streamId: number): Promise<LeaderEpochStart[]>
  /**
   * Replaces the settings of all partitions of a topic, in one, if they still are what they were seen to be: else somebody was faster.
   * @throws SchemaMissingError as `create`
   */
  setTopicConfig(
    topicId: string,
    change: { readonly from: Readonly<Record<string, string>>; readonly to: Readonly<Record<string, string>> },
  ): Promise<'set' | 'changed-meanwhile' | 'gone'>
  /**
   * Creates a stream that begins with what another one has below `sharedEnd`, an entry boundary: its extents are taken over as they
   * are, and no byte moves. Leader epochs go with them, owner, state and closing do not. The fork goes on at `sharedEnd`.
   * @returns 'source-changed' when the source does not have what `cut` says, or something else lies across `sharedEnd`: look again.
   * @throws StreamExistsError, TopicCollisionError, SchemaMissingError as `create`.
   */
  fork(fork: NewFork, nowMs: number): Promise<StreamRecord | 'source-missing' | 'source-gone' | 'source-changed'>
  /**
   * Ends the 'creating' of streams, at once closed if so wanted. Returns the ids of those that were not replaced or swept meanwhile.
   * @throws FencedError; StreamNotOwnedError when `node` is not the owner of one of them.
   */
  reveal(
    node: NodeIdentity,
    streams: readonly { readonly streamId: number; readonly isClosed: boolean }[],
  ): Promise<Set<number>>
  /** Streams left 'creating' by a crash, or being created right now: lowest ids first, after `afterStreamId`. */
  creating(page: { afterStreamId: number; limit: number }): Promise<StreamRecord[]>
  /**
   * Closes for good; who closed it first stays named. May be repeated. False when the stream is gone.
   * @throws FencedError; StreamNotOwnedError when `node` is not the owner.
   */
  close(node: NodeIdentity, streamId: number, closedBy: string | null): Promise<boolean>
  /** Puts off the ends of streams; an end is never moved to an earlier time. Those gone, or without an end, are left out. */
  renew(ends: readonly { readonly streamId: number; readonly expiresAtMs: number }[]): Promise<void>
  /** Live streams whose end has come, longest ago first. Cost does not grow with streams that have none. */
  expired(nowMs: number, limit: number): Promise<StreamRecord[]>
  /** Replaces the settings. False when the stream is gone. @throws SchemaMissingError as `create` */
  setConfig(streamId: number, config: Readonly<Record<string, string>>): Promise<boolean>
  /**
   * Moves the trim watermark up (never down), drops extents that end at or before it, and dooms objects nothing points into any
   * more. Returns the watermark now in force, or null when the stream is gone. @throws FencedError; StreamNotOwnedError when `node` is not the owner.
   */
  trim(node: NodeIdentity, streamId: number, startOffset: number, nowMs: number): Promise<number | null>
  /**
   * Deletes the streams with all that belongs to them, and dooms objects nothing points into any more. Of a stream that has forks the
   * row stays, as 'gone', until the last of its forks is deleted (up the chain). Returns the ids that were there, and not 'gone'.
   */
  delete(streamIds: readonly number[], nowMs: number): Promise<number[]>
  /**
   * Streams that retention may trim: for each, the offset to trim to by its `retention.ms` / `retention.bytes` settings, looking
   * at whole extents only, oldest first. As a Kafka broker counts: by age while an extent's youngest record is older than the limit
   * (the commit's time where no record has one), by size while what stays is at least the limit; nothing when `cleanup.policy` does
   * not include `delete`. Absent settings are unlimited. Cost does not grow with streams that set neither.
   * Of the streams that `node` owns, as nobody else may trim them, and of those that no live node owns where `unowned` says so.
   */
  retentionDue(
    of: { node: NodeIdentity; unowned: boolean },
    nowMs: number,
    limit: number,
  ): Promise<{ streamId: number; trimTo: number }[]>
  /**
   * Live streams with entries that no compaction by key has looked at for longer than `max.compaction.lag.ms`, where `cleanup.policy`
   * includes `compact`. An entry's age is that of the youngest of those that were packed together with it (the commit's time where none
   * has a timestamp), which merging does not change. Cost does not grow with streams that set no such limit.
   * Of which streams, is said as for `retentionDue`.
   */
  compactionDue(of: { node: NodeIdentity; unowned: boolean }, nowMs: number, limit: number): Promise<StreamRecord[]>
  /** A compaction by key has looked at all below `compactedTo`. False when the stream is gone. @throws FencedError; StreamNotOwnedError */
  recordCompacted(node: NodeIdentity, streamId: number, compactedTo: number): Promise<boolean>
}
