import { uuidFromBytes } from '@pico/binary'
import { type NewStream, StreamExistsError, type StreamRecord } from '@pico/metadata'
import { OpenPartitions, type OpenPartitionsParts } from './open-partitions.ts'
import type { Partition } from './partition.ts'
import type { StreamsSettings } from './settings.ts'
import type { PartitionDirectory } from './stream-place.ts'
import type { TopicRef } from './streams.ts'
import { Together } from './together.ts'
import type { Topic } from './topic.ts'
import { TopicCache } from './topic-cache.ts'
import type { TopicCatalogParts } from './topic-catalog.ts'
import { type TopicConfig, topicConfigInForce } from './topic-config.ts'

/** Short facts about a stream, kept in its row, for whoever lists streams without opening them. */
export type StreamLabels = Readonly<Record<string, string>>

export interface InternalStream {
  readonly name: string
  readonly labels: StreamLabels
  /** Another node has it. */
  readonly isElsewhere: boolean
}

/**
 * Streams of our own, by reserved names (`/_sys/…`, see names.ts): no topics, and not listed as such. One of them is a Partition like
 * any other, whose `topic` is the name of the stream; its messages may be large.
 */
export interface InternalStreams {
  /** The stream, open for append and read; synchronous when it is open already. */
  open(name: string): InternalStreamAnswer | Promise<InternalStreamAnswer>
  /** The same, making the stream if there is none. */
  openOrCreate(name: string): Promise<Partition | 'not-owner'>
  /** False when there was none. Waiters on it wake, appends in flight reject. */
  delete(name: string): Promise<boolean>
  /** Those whose name begins with `prefix` and comes after `after`, in byte order of names. Opens nothing. */
  list(page: { prefix: string; after: string | null; limit: number }): Promise<InternalStream[]>
  /**
   * The node that has the stream, or is to be asked to make it: all nodes say the same, as far as they see the same nodes. Null when
   * nobody can have it now. Opens nothing, makes nothing. @throws MetadataUnavailableError, FencedError
   */
  ownerOf(name: string): Promise<number | null>
  /** Replaces the labels. False when there is no such stream. */
  label(name: string, labels: StreamLabels): Promise<boolean>
}

export type InternalStreamAnswer = Partition | 'missing' | 'not-owner'

/** What one append may bring: a batch is written in one piece, however much it says. */
export const internalMessageBytesMax = 16 * 1024 * 1024

const contentType = 'application/octet-stream'
const config = topicConfigInForce({ 'max.message.bytes': String(internalMessageBytesMax) }, {})

export class NodeInternalStreams implements InternalStreams {
  readonly partitions: OpenPartitions
  readonly #parts: TopicCatalogParts & Omit<OpenPartitionsParts, 'catalog' | 'claims'>
  readonly #creations: Together<string, void>
  readonly #directory: InternalDirectory

  constructor(parts: TopicCatalogParts & Omit<OpenPartitionsParts, 'catalog' | 'claims'>, settings: StreamsSettings) {
    this.#parts = parts
    this.#creations = new Together(async (names) => {
      await this.#createAll([...new Set(names)])
      return names.map(() => undefined)
    }, settings.openBatchMax)
    this.#directory = new InternalDirectory(parts, settings.cachedTopicsMax)
    this.partitions = new OpenPartitions({ ...parts, catalog: this.#directory, claims: true }, settings)
  }

  open(name: string): InternalStreamAnswer | Promise<InternalStreamAnswer> {
    const found = this.partitions.get({ name }, 0)
    return found instanceof Promise ? found.then(internalAnswer) : internalAnswer(found)
  }

  async openOrCreate(name: string): Promise<Partition | 'not-owner'> {
    for (;;) {
      const found = await this.open(name)
      if (found !== 'missing') return found
      this.#directory.forget(name) // it may have been another stream of that name, gone since
      await this.#creations.call(name)
    }
  }

  async delete(name: string): Promise<boolean> {
    return (await this.partitions.deleteTopic({ name })) !== null
  }

  async list(page: { prefix: string; after: string | null; limit: number }): Promise<InternalStream[]> {
    const rows = await this.#parts.metadata.streams.list(page)
    const { placement } = this.#parts
    return rows.map(({ name, config, owner }) => ({ name, labels: config, isElsewhere: placement.isElsewhere(owner) }))
  }

  async ownerOf(name: string): Promise<number | null> {
    const { placement, metadata } = this.#parts
    if (placement.isAlone) return this.#parts.node.nodeId
    const [stream] = await metadata.streams.byName([name])
    if (stream === undefined) return placement.nodeFor(name)
    return (await placement.place([stream.streamId])).get(stream.streamId)?.owner?.nodeId ?? null
  }

  async label(name: string, labels: StreamLabels): Promise<boolean> {
    const [stream] = await this.#directory.find([{ name }])
    const streamId = stream?.partitions[0]?.streamId
    return streamId !== undefined && (await this.#parts.metadata.streams.setConfig(streamId, labels))
  }

  /** Somebody may have been faster: then each is made by itself, unless it is there. */
  async #createAll(names: readonly string[]): Promise<void> {
    const { metadata, clock } = this.#parts
    try {
      const streams = names.map((name) => this.#newStream(name))
      await metadata.streams.create(streams, clock.nowMs())
    } catch (error) {
      if (!(error instanceof StreamExistsError)) throw error
      if (names.length > 1) for (const name of names) await this.#createAll([name])
    }
  }

  #newStream(name: string): NewStream {
    const topicId = uuidFromBytes(this.#parts.random(16))
    return { name, topic: null, partition: 0, topicId, contentType, config: {} }
  }
}

/** Internal streams as topics of one partition, which is all that opening and deleting them needs to know. */
class InternalDirectory implements PartitionDirectory {
  readonly #parts: TopicCatalogParts
  readonly #cache: TopicCache

  constructor(parts: TopicCatalogParts, cachedMax: number) {
    this.#parts = parts
    this.#cache = new TopicCache(cachedMax)
  }

  cached(ref: TopicRef): Topic | undefined {
    return this.#cache.get(ref)
  }

  async find(refs: readonly TopicRef[]): Promise<(Topic | undefined)[]> {
    for (const stream of await this.lookUp(refs.filter((ref) => this.#cache.get(ref) === undefined))) {
      this.#cache.put(stream)
    }
    return refs.map((ref) => this.#cache.get(ref))
  }

  async lookUp(refs: readonly TopicRef[]): Promise<Topic[]> {
    const names = [...new Set(refs.flatMap(({ name }) => name ?? []))]
    if (names.length === 0) return []
    const rows = await this.#parts.metadata.streams.byName(names)
    return rows.map(topicOf)
  }

  forget(name: string): void {
    this.#cache.forget(name)
  }

  forgetRef(ref: TopicRef | undefined): void {
    if (ref?.name !== undefined) this.#cache.forget(ref.name)
  }

  configOf(): TopicConfig {
    return config
  }
}

function topicOf({ name, topicId, streamId, owner, leaderEpoch }: StreamRecord): Topic {
  return { name, topicId, config, partitions: [{ partition: 0, streamId, owner, leaderEpoch, expiresAtMs: null }] }
}

function internalAnswer(found: Awaited<ReturnType<OpenPartitions['get']>>): InternalStreamAnswer {
  return typeof found === 'string' && found !== 'not-owner' ? 'missing' : found
}
