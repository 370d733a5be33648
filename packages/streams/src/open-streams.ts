import { randomBytes } from 'node:crypto'
import type { Clock, Log } from '@pico/log'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { ExpiryRenewals } from './expiry-renewals.ts'
import { type InternalStreams, NodeInternalStreams } from './internal-streams.ts'
import { KeyCompactor } from './key-compactor.ts'
import { NodePathStreams } from './node-path-streams.ts'
import { OpenPartitions } from './open-partitions.ts'
import type { Partition } from './partition.ts'
import type { PathStreams } from './path-streams.ts'
import { Presence } from './presence.ts'
import { ProducerIds } from './producer-ids.ts'
import { type StreamsSettings, settingsInForce } from './settings.ts'
import { StreamSweep } from './stream-sweep.ts'
import type {
  AlterTopicOutcome,
  CreateTopicOutcome,
  NewTopic,
  PartitionMiss,
  PartitionSize,
  Streams,
  TopicConfigChange,
  TopicDeletionWatcher,
  TopicDescription,
  TopicRef,
} from './streams.ts'
import { describeTopic } from './topic.ts'
import type { TopicAlteration } from './topic-alteration.ts'
import { TopicCatalog } from './topic-catalog.ts'
import { recordClosings } from './unrecorded-closings.ts'

export interface StreamsComponents {
  /** Opened with `recordBatchEntries` as its format. What its `onIdle` and `onFenced` were is called too. */
  readonly log: Log
  readonly metadata: Metadata
  readonly node: NodeIdentity
  readonly clusterId: string
  readonly clock: Clock
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
  const { log } = components
  const streams = new NodeStreams(components, settingsInForce(settings))
  await recordClosings(components)
  const { onIdle, onFenced, onMaintenance } = log
  log.onMaintenance = async (signal) => {
    await onMaintenance(signal)
    await streams.compact(signal)
  }
  log.onIdle = (stream) => onIdle(stream) && streams.dropIdle(stream.streamId)
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
  readonly #producerIds: ProducerIds

  constructor(components: StreamsComponents, settings: StreamsSettings) {
    const { log, metadata, node, clusterId, clock, random = randomBytes } = components
    this.clusterId = clusterId
    const { compactionKeysMax: keysMax, compactionObjectBytes: objectBytes } = settings
    this.nodeId = node.nodeId
    this.topicDefaults = settings.defaultTopicConfig
    this.#log = log
    const presence = new Presence(clock, (streamId) => this.#partitions.opened(streamId)?.expiresAtMs)
    this.#renewals = new ExpiryRenewals(metadata, clock)
    const parts = { log, metadata, node, clock, random, renewals: this.#renewals }
    this.#catalog = new TopicCatalog(parts, settings, presence)
    this.#partitions = new OpenPartitions({ ...parts, catalog: this.#catalog, paths: this.#catalog }, settings)
    this.#compactor = new KeyCompactor(
      {
        ...parts,
        onProblem: components.onProblem ?? (() => undefined),
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
        onProblem: components.onProblem ?? (() => undefined),
      },
      settings,
    )
    this.#sweep.start()
    this.#producerIds = new ProducerIds(metadata.nodes, settings.producerIdBlock)
  }

  async createTopic(topic: NewTopic): Promise<CreateTopicOutcome> {
    const outcome = await this.#catalog.create(topic)
    // What has expired is in nobody's way.
    const isTaken = outcome.refused?.kind === 'topic-exists' && (await this.#paths.clearAway(topic.name))
    return isTaken ? this.#catalog.create(topic) : outcome
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
      return { altered: describeTopic(topic, this.nodeId) }
    })
  }

  async deleteTopic(topic: TopicRef): Promise<boolean> {
    const deleted = await this.#partitions.deleteTopic(topic)
    if (deleted === null) return false
    this.#tellDeleted(deleted.name)
    return true
  }

  #tellDeleted(topic: string): void {
    for (const watcher of [...this.#deletionWatchers]) watcher(topic)
  }

  watchTopicDeletions(watcher: TopicDeletionWatcher): () => void {
    this.#deletionWatchers.add(watcher)
    return () => this.#deletionWatchers.delete(watcher)
  }

  async describeTopics(topics: readonly TopicRef[]): Promise<(TopicDescription | undefined)[]> {
    const found = await this.#catalog.find(topics, false)
    return found.map((topic) => topic && describeTopic(topic, this.nodeId))
  }

  async *listTopics(after: string | null = null): AsyncGenerator<TopicDescription, void, undefined> {
    for await (const topic of this.#catalog.all(after)) yield describeTopic(topic, this.nodeId)
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

  async close(): Promise<void> {
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

  /** This node serves nothing from now on: it is fenced, or closing. */
  end(): void {
    this.#partitions.end()
    this.#internal.partitions.end()
  }
}
