import { randomBytes } from 'node:crypto'
import { type Clock, type Log, LogClosedError } from '@pico/log'
import { FencedError, type Metadata, type NodeIdentity } from '@pico/metadata'
import { ClusterDuties } from './cluster-duties.ts'
import { ExpiryRenewals } from './expiry-renewals.ts'
import { type InternalStreams, NodeInternalStreams } from './internal-streams.ts'
import { KeyCompactor } from './key-compactor.ts'
import { joinAlone, type Membership } from './membership.ts'
import { NodePathStreams } from './node-path-streams.ts'
import { OpenPartitions } from './open-partitions.ts'
import type { Partition } from './partition.ts'
import type { PathStreams } from './path-streams.ts'
import { Placement } from './placement.ts'
import { Presence } from './presence.ts'
import { ProducerIds } from './producer-ids.ts'
import { type StreamsSettings, settingsInForce } from './settings.ts'
import { StreamSweep } from './stream-sweep.ts'
import type {
  AlterTopicOutcome,
  CreateTopicOutcome,
  DeletedTopic,
  NewTopic,
  PartitionMiss,
  PartitionSize,
  Streams,
  TopicConfigChange,
  TopicDeletionWatcher,
  TopicDescription,
  TopicRef,
} from './streams.ts'
import { describeTopic, type Topic } from './topic.ts'
import type { TopicAlteration } from './topic-alteration.ts'
import { TopicCatalog } from './topic-catalog.ts'
import { noSchemas, type SchemaNames } from './topic-schema.ts'
import { recordClosings } from './unrecorded-closings.ts'

export interface StreamsComponents {
  /** Opened with `recordBatchEntries` as its format. What its `onIdle` and `onFenced` were is called too. */
  readonly log: Log
  readonly metadata: Metadata
  /** That the log was opened for. */
  readonly node: NodeIdentity
  /** Of that node, among others; default: it has the database alone. */
  readonly membership?: Membership
  readonly clusterId: string
  readonly clock: Clock
  /** That topics can be bound to; default: there are none. */
  readonly schemas?: SchemaNames
  /** That many random bytes, for topic ids; the operating system's by default. */
  readonly random?: (bytes: number) => Uint8Array
  /** Told of what failed in the background and will be tried again: an operator wants to know. */
  readonly onProblem?: (message: string, error: unknown) => void
}

/** @throws InvalidDefaultsError */
export async function openStreams(
  components: StreamsComponents,
  settings: Partial<StreamsSettings> = {},
): Promise<Streams> {
  const { log, membership = await joinAlone(components) } = components
  const streams = new NodeStreams({ ...components, membership }, settingsInForce(settings))
  await recordClosings(components)
  await streams.start()
  const { onIdle, onFenced, onMaintenance } = log
  log.onMaintenance = async (signal) => {
    await onMaintenance(signal)
    await streams.compact(signal)
  }
  log.onIdle = (stream) => onIdle(stream) && streams.dropIdle(stream.streamId)
  void membership.over.then(() => log.fence())
  membership.watchLapses(() => streams.interrupt())
  log.onFenced = () => {
    streams.end()
    onFenced()
  }
  return streams
}

class NodeStreams implements Streams {
  readonly clusterId: string
  readonly nodeId: number
  readonly topicDefaults: Readonly<Record<string, string>>
  readonly #partitions: OpenPartitions
  readonly #internal: NodeInternalStreams
  readonly #paths: NodePathStreams
  readonly #renewals: ExpiryRenewals
  readonly #sweep: StreamSweep
  readonly #compactor: KeyCompactor
  readonly #deletionWatchers = new Set<TopicDeletionWatcher>()
  readonly #log: Log
  readonly #catalog: TopicCatalog
  readonly #metadata: Metadata
  readonly #membership: Membership
  readonly #placement: Placement
  readonly #duties: ClusterDuties
  readonly #producerIds: ProducerIds

  constructor(components: StreamsComponents & { membership: Membership }, settings: StreamsSettings) {
    const { log, metadata, node, membership, clusterId, clock, random = randomBytes } = components
    const { onProblem = () => undefined, schemas = noSchemas } = components
    this.clusterId = clusterId
    const { compactionKeysMax: keysMax, compactionObjectBytes: objectBytes } = settings
    this.nodeId = node.nodeId
    this.topicDefaults = settings.defaultTopicConfig
    this.#log = log
    const placement = new Placement({ metadata, log, membership, clock })
    this.#metadata = metadata
    this.#membership = membership
    this.#placement = placement
    const presence = new Presence(
      clock,
      (streamId) => this.#partitions.opened(streamId)?.expiresAtMs,
      (owner) => placement.isElsewhere(owner),
    )
    this.#renewals = new ExpiryRenewals(metadata, clock)
    const surroundings = { log, metadata, node, clock, random, schemas, onProblem }
    const parts = { ...surroundings, membership, placement, renewals: this.#renewals }
    this.#catalog = new TopicCatalog(parts, settings, presence)
    this.#partitions = new OpenPartitions(
      { ...parts, catalog: this.#catalog, paths: this.#catalog, claims: false },
      settings,
    )
    this.#compactor = new KeyCompactor(
      {
        ...parts,
        opened: () => this.#partitions.compacted(),
        open: async (name) => this.#partitions.getPath(name),
      },
      { keysMax, objectBytes },
    )
    this.#internal = new NodeInternalStreams(parts, settings)
    this.#paths = new NodePathStreams({
      ...parts,
      presence,
      partitions: this.#partitions,
      operatorDefaults: settings.defaultTopicConfig,
      createdTogetherMax: settings.openBatchMax,
      onTopicDeleted: (topic) => this.#tellDeleted(topic),
    })
    this.#sweep = new StreamSweep(
      {
        ...parts,
        presence,
        partitions: this.#partitions,
        remove: (records) => this.#paths.deleteRecords(records),
      },
      settings,
    )
    this.#duties = new ClusterDuties(
      {
        ...parts,
        letGo: (streamIds, handOver) => this.#letGo(streamIds, handOver),
        changed: (topicIds) => this.#changed(topicIds),
      },
      settings,
    )
    this.#producerIds = new ProducerIds(metadata.nodes, settings.producerIdBlock)
  }

  /** Resolves when this node does what others want of it. */
  async start(): Promise<void> {
    if (this.#membership.isShared) await this.#duties.start()
    this.#sweep.start()
  }

  async createTopic(topic: NewTopic): Promise<CreateTopicOutcome> {
    let outcome = await this.#catalog.create(topic)
    // What has expired is in nobody's way.
    const isTaken = outcome.refused?.kind === 'topic-exists' && (await this.#paths.clearAway(topic.name))
    if (isTaken) outcome = await this.#catalog.create(topic)
    const { created, refused } = outcome
    if (created === undefined) return { refused }
    const isThere = !topic.validateOnly
    return { created: isThere ? (await this.#described([created]))[0]! : this.#expected(created) }
  }

  /** With those who lead; where nobody does, somebody is made to. */
  async #described<T extends Topic | undefined>(topics: readonly T[]): Promise<(TopicDescription | (T & undefined))[]> {
    const leaderOf = await this.#placement.leaders(topics.flatMap((topic) => topic?.partitions ?? []))
    return topics.map((topic) => topic && describeTopic(topic, leaderOf))
  }

  /** With those who will lead, as far as is known. */
  #expected(topic: Topic): TopicDescription {
    return describeTopic(topic, (partition) => this.#placement.expectedLeader(partition))
  }

  alterTopicConfig(topic: TopicRef, change: TopicConfigChange, validateOnly: boolean): Promise<AlterTopicOutcome> {
    return this.#alterTopic(() => this.#catalog.alterConfig(topic, change, validateOnly))
  }

  createPartitions(topic: TopicRef, count: number, validateOnly: boolean): Promise<AlterTopicOutcome> {
    return this.#alterTopic(() => this.#catalog.createPartitions(topic, count, validateOnly))
  }

  #alterTopic(alter: () => Promise<TopicAlteration>): Promise<AlterTopicOutcome> {
    return this.#partitions.exclusively(async () => {
      const { topic, refused, isDone } = await alter()
      if (topic === undefined) return { refused }
      if (isDone) this.#partitions.reconfigure(topic)
      return { altered: this.#expected(topic) }
    })
  }

  async deleteTopic(topic: TopicRef): Promise<boolean> {
    const [found] = await this.#catalog.lookUp([topic])
    if (found === undefined) return false
    await this.#placement.bringHere(found.partitions.map(({ streamId }) => streamId))
    const deleted = await this.#partitions.deleteTopic({ topicId: found.topicId })
    if (deleted === null) return false
    this.#tellDeleted(deleted)
    return true
  }

  #tellDeleted({ topicId, name }: DeletedTopic): void {
    for (const watcher of [...this.#deletionWatchers]) watcher({ topicId, name })
  }

  watchTopicDeletions(watcher: TopicDeletionWatcher): () => void {
    this.#deletionWatchers.add(watcher)
    return () => this.#deletionWatchers.delete(watcher)
  }

  async describeTopics(topics: readonly TopicRef[]): Promise<(TopicDescription | undefined)[]> {
    const found = await this.#catalog.find(topics, false)
    return this.#described(found)
  }

  async *listTopics(after: string | null = null): AsyncGenerator<TopicDescription, void, undefined> {
    for await (const topic of this.#catalog.all(after)) yield this.#expected(topic)
  }

  async topicSizes(topics: readonly TopicRef[]): Promise<(readonly PartitionSize[] | undefined)[]> {
    const found = await this.#catalog.find(topics, false)
    const sizes = await this.#partitions.sizes(found.flatMap((topic) => topic?.partitions ?? []))
    return found.map((topic) =>
      topic?.partitions.map(({ partition, streamId }) => ({ partition, sizeBytes: sizes.get(streamId) ?? 0 })),
    )
  }

  partition(topic: TopicRef, partition: number): Partition | PartitionMiss | Promise<Partition | PartitionMiss> {
    return this.#partitions.get(topic, partition)
  }

  get paths(): PathStreams {
    return this.#paths
  }

  get internal(): InternalStreams {
    return this.#internal
  }

  allocateProducerId(): Promise<number> {
    return this.#producerIds.allocate()
  }

  hasRoom(): boolean {
    return this.#log.hasRoom()
  }

  whenRoom(): Promise<void> {
    return this.#log.whenRoom()
  }

  async #letGo(streamIds: readonly number[], handOver: () => Promise<unknown>): Promise<void> {
    await this.#packWhileServing(streamIds)
    const internal = streamIds.filter((streamId) => this.#internal.partitions.opened(streamId) !== undefined)
    // What is not open at all may be opened by either: nobody opens anything while it is handed over.
    await this.#internal.partitions.letGo(internal, () => this.#partitions.letGo(streamIds, handOver))
  }

  /** Leaves little to take over while nothing is taken: an extent for every flush of the last minute makes a long statement. */
  async #packWhileServing(streamIds: readonly number[]): Promise<void> {
    try {
      await this.#log.pack(streamIds)
    } catch (error) {
      if (error instanceof FencedError || error instanceof LogClosedError) throw error
      // The store is away: what is un-packed is taken over where it is, in SQL alone.
    }
  }

  async #changed(topicIds: readonly string[] | 'all'): Promise<void> {
    if (topicIds === 'all') this.#catalog.forgetAll()
    else for (const topicId of topicIds) this.#catalog.forgetRef({ topicId })
    await this.#partitions.refresh(topicIds)
    if (topicIds !== 'all') await this.#tellDeletedElsewhere(topicIds)
  }

  /** What was deleted here is told once more. */
  async #tellDeletedElsewhere(changed: readonly string[]): Promise<void> {
    const rows = await this.#metadata.streams.byTopicId(changed)
    const there = new Set(rows.flatMap(({ topicId, life }) => (life === 'gone' ? [] : [topicId])))
    for (const topicId of changed) if (!there.has(topicId)) this.#tellDeleted({ topicId, name: null })
  }

  async handOver(): Promise<void> {
    this.#membership.retire()
    await this.close()
    await this.#log.close()
    await this.#membership.leave()
  }

  async close(): Promise<void> {
    await this.#duties.stop()
    await this.#sweep.stop()
    const open = this.#partitions.all()
    this.end()
    await this.#log.flush()
    // What SQL does not take now, the next one to open the stream tells it.
    for (const partition of open) {
      if (!partition.isRecorded) await partition.bringUpToDate().catch(() => undefined)
    }
    await this.#renewals.close()
  }

  /** One round of compaction by key. */
  compact(signal: AbortSignal): Promise<void> {
    return this.#compactor.run(signal)
  }

  /** May the log drop it from memory? */
  dropIdle(streamId: number): boolean {
    return this.#partitions.dropIdle(streamId) && this.#internal.partitions.dropIdle(streamId)
  }

  get isServing(): boolean {
    return !this.#membership.isOver
  }

  /** This node serves nothing for the moment. */
  interrupt(): void {
    this.#partitions.interrupt()
    this.#internal.partitions.interrupt()
  }

  /** This node serves nothing from now on: it is fenced, or closing. */
  end(): void {
    this.#partitions.end()
    this.#internal.partitions.end()
  }
}
