import { uuidFromBytes } from '@pico/binary'
import type { Clock } from '@pico/log'
import {
  type Metadata,
  MetadataUnavailableError,
  type NewStream,
  SchemaMissingError,
  StreamExistsError,
  type StreamRecord,
  TopicCollisionError,
} from '@pico/metadata'
import { collisionName, streamNameOf, topicNameProblem } from './names.ts'
import type { Presence } from './presence.ts'
import type { StreamsSettings } from './settings.ts'
import type { PartitionDirectory, PathDirectory, PathPlace } from './stream-place.ts'
import type { CreateTopicRefusal, NewTopic, TopicConfigChange, TopicRef } from './streams.ts'
import { type Topic, type TopicRow, topicOfPath, topicsOf } from './topic.ts'
import { type AlterationParts, alterConfig, createPartitions, type TopicAlteration } from './topic-alteration.ts'
import { TopicCache } from './topic-cache.ts'
import { type TopicConfig, topicConfigInForce } from './topic-config.ts'
import { changedTopicConfig, unknownSchema } from './topic-config-change.ts'
import type { SchemaNames } from './topic-schema.ts'

export interface TopicCatalogParts {
  readonly metadata: Metadata
  readonly clock: Clock
  /** That many random bytes. */
  readonly random: (bytes: number) => Uint8Array
  readonly schemas: SchemaNames
}

/** A topic that was made, or only would be. */
export type TopicCreation =
  | { readonly created: Topic; readonly refused?: never }
  | { readonly created?: never; readonly refused: CreateTopicRefusal }

/** Streams asked for at a time where all topics are walked. */
const pageStreams = 1000
const contentType = 'application/octet-stream'

/** Topics in SQL, and those of them that are kept at hand. */
export class TopicCatalog implements PartitionDirectory, PathDirectory {
  readonly #parts: TopicCatalogParts
  readonly #settings: StreamsSettings
  readonly #cache: TopicCache
  readonly #presence: Presence

  constructor(parts: TopicCatalogParts, settings: StreamsSettings, presence: Presence) {
    this.#parts = parts
    this.#presence = presence
    this.#settings = settings
    this.#cache = new TopicCache(settings.cachedTopicsMax)
  }

  /** At hand, without asking SQL. */
  cached(ref: TopicRef): Topic | undefined {
    const topic = this.#cache.get(ref)
    if (topic === undefined || !topic.partitions.some((partition) => this.#presence.isOver(partition))) return topic
    this.#cache.forget(topic.name)
    return undefined
  }

  /** In the order asked for. Those found are at hand from then on if `remember` says so. */
  async find(refs: readonly TopicRef[], remember: boolean): Promise<(Topic | undefined)[]> {
    const missing = refs.filter((ref) => this.cached(ref) === undefined)
    const found = missing.length === 0 ? [] : await this.lookUp(missing)
    if (remember) for (const topic of found) this.#cache.put(topic)
    const byName = new Map(found.map((topic) => [topic.name, topic]))
    const byId = new Map(found.map((topic) => [topic.topicId, topic]))
    return refs.map(
      (ref) => (ref.name === undefined ? byId.get(ref.topicId) : byName.get(ref.name)) ?? this.#cache.get(ref),
    )
  }

  /** What SQL says of them now, in any order; unknown ones are left out. */
  async lookUp(refs: readonly TopicRef[]): Promise<Topic[]> {
    const { streams } = this.#parts.metadata
    const names = new Set(refs.flatMap(({ name }) => name ?? []))
    const topicIds = new Set(refs.flatMap(({ topicId }) => topicId ?? []))
    const byName = names.size === 0 ? [] : await streams.byTopic([...names])
    const byId = topicIds.size === 0 ? [] : await streams.byTopicId([...topicIds])
    const rows = new Map([...byName, ...byId].map((row) => [row.streamId, row]))
    // A stream that only HTTP knows has an id too, but is no topic.
    return this.#topicsOf(this.#there([...rows.values()].filter((row) => row.topic !== null)))
  }

  /** A topic is there with all of its partitions, or not at all. */
  #there(rows: readonly StreamRecord[]): StreamRecord[] {
    const absent = new Set(rows.flatMap((row) => (this.#presence.isThere(row) ? [] : [row.topicId])))
    return rows.filter(({ topicId }) => !absent.has(topicId))
  }

  async findPaths(names: readonly string[]): Promise<(PathPlace | 'missing' | 'gone')[]> {
    const rows = await this.#parts.metadata.streams.byName(names)
    for (const { topic: name, topicId } of rows) {
      // Deleted and made anew by another node.
      if (name !== null && this.#cache.get({ name })?.topicId !== topicId) this.#cache.forget(name)
    }
    const topics = rows.flatMap(({ topic }) => (topic === null ? [] : [{ name: topic }]))
    const byId = new Map((await this.find(topics, true)).flatMap((topic) => (topic ? [[topic.topicId, topic]] : [])))
    const found = new Map(rows.map((record) => [record.name, record]))
    return names.map((name) => {
      const record = found.get(name)
      if (record?.life === 'gone') return 'gone'
      if (record === undefined || !this.#presence.isThere(record)) return 'missing'
      const { streamId, partition, topic: topicName } = record
      const topic = topicName === null ? this.pathTopic(record) : byId.get(record.topicId)
      return topic === undefined ? 'missing' : { topic, partition, streamId, record }
    })
  }

  /** A stream that only HTTP knows, as a topic of one partition. */
  pathTopic(record: StreamRecord): Topic {
    return topicOfPath(record, this.#settings.defaultTopicConfig)
  }

  /** Whatever was known of it may be wrong: another node's news arrive here too. */
  forget(name: string): void {
    this.#cache.forget(name)
  }

  forgetRef(ref: TopicRef | undefined): void {
    const topic = ref && this.#cache.get(ref)
    if (topic !== undefined) this.#cache.forget(topic.name)
  }

  forgetAll(): void {
    this.#cache.clear()
  }

  configOf(row: StreamRecord): TopicConfig {
    return topicConfigInForce(row.config, this.#settings.defaultTopicConfig)
  }

  /** Those whose name comes after `first`, in name order. */
  async *all(first: string | null = null): AsyncGenerator<Topic, void, undefined> {
    let after = first
    for (;;) {
      const rows: StreamRecord[] = await this.#parts.metadata.streams.listTopics({ after, limit: pageStreams })
      yield* this.#topicsOf(this.#there(rows))
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.topic
    }
  }

  /** Checks in Kafka's order: the name, whether it is taken, the settings, the partitions. */
  async create(topic: NewTopic): Promise<TopicCreation> {
    const nameProblem = topicNameProblem(topic.name)
    if (nameProblem !== null) return refused({ kind: 'invalid-name', message: nameProblem })
    const [existing] = await this.lookUp([topic])
    if (existing !== undefined) return refused({ kind: 'topic-exists' })
    const { schemas } = this.#parts
    const operatorDefaults = this.#settings.defaultTopicConfig
    const { config, invalid } = await changedTopicConfig(topic.config, {}, { operatorDefaults, schemas })
    if (config === undefined) return refused({ kind: 'invalid-config', message: invalid })
    const partitionsProblem = this.#partitionsProblem(topic.partitions)
    if (partitionsProblem !== null) return refused({ kind: 'invalid-partitions', message: partitionsProblem })

    const streams = this.#newStreams(topic, config.overrides)
    return topic.validateOnly ? this.#wouldCreate(streams, topic.name) : this.#create(streams)
  }

  alterConfig(ref: TopicRef, change: TopicConfigChange, validateOnly: boolean): Promise<TopicAlteration> {
    return alterConfig(this.#alterationOf(ref), change, validateOnly)
  }

  createPartitions(ref: TopicRef, count: number, validateOnly: boolean): Promise<TopicAlteration> {
    const problem = ({ name, partitions }: Topic) =>
      growthProblem(name, partitions.length, count) ?? this.#partitionsProblem(count)
    return createPartitions(this.#alterationOf(ref), count, problem, validateOnly)
  }

  #alterationOf(ref: TopicRef): AlterationParts {
    const { metadata, clock, schemas } = this.#parts
    return {
      metadata,
      schemas,
      nowMs: () => clock.nowMs(),
      operatorDefaults: this.#settings.defaultTopicConfig,
      lookUp: async () => {
        const [topic] = await this.lookUp([ref])
        if (topic !== undefined) this.forget(topic.name)
        return topic
      },
    }
  }

  #newStreams({ name, partitions }: NewTopic, config: Readonly<Record<string, string>>): NewStream[] {
    const topicId = randomUuid(this.#parts.random(16))
    return Array.from({ length: partitions }, (_, partition) => {
      return { name: streamNameOf(name, partition), topic: name, partition, topicId, contentType, config }
    })
  }

  async #create(streams: readonly NewStream[]): Promise<TopicCreation> {
    const { metadata, clock } = this.#parts
    try {
      return this.#created(await metadata.streams.create(streams, clock.nowMs()))
    } catch (error) {
      if (error instanceof StreamExistsError) return refused({ kind: 'topic-exists' })
      if (error instanceof SchemaMissingError) {
        const message = unknownSchema(`${error.schemaName}:${error.version}`)
        return refused({ kind: 'invalid-config', message })
      }
      if (error instanceof TopicCollisionError) return collision(error.topic, error.existingTopic)
      if (!(error instanceof MetadataUnavailableError)) throw error
      return this.#createdAfterAll(streams, error)
    }
  }

  /** The answer was lost: the id, which is new, says whether the topic was made. */
  async #createdAfterAll(streams: readonly NewStream[], error: MetadataUnavailableError): Promise<TopicCreation> {
    const rows = await this.#parts.metadata.streams.byTopicId(streams.map(({ topicId }) => topicId))
    if (rows.length === 0) throw error
    return this.#created(rows)
  }

  async #wouldCreate(streams: readonly NewStream[], name: string): Promise<TopicCreation> {
    const collisionOfName = collisionName(name)
    // Only a name with one of the two characters can collide with another one.
    if (/[._]/.test(name)) {
      for await (const other of this.all()) {
        if (collisionName(other.name) === collisionOfName) return collision(name, other.name)
      }
    }
    const unsaved = { streamId: -1, owner: null, leaderEpoch: 0, expiresAtMs: null }
    return this.#created(streams.map((stream) => ({ ...stream, ...unsaved })))
  }

  #created(rows: readonly TopicRow[]): TopicCreation {
    const [topic] = this.#topicsOf(rows)
    if (topic === undefined) throw new RangeError('a topic was created without a partition')
    return { created: topic }
  }

  #topicsOf(rows: readonly TopicRow[]): Topic[] {
    return topicsOf(rows, this.#settings.defaultTopicConfig)
  }

  #partitionsProblem(partitions: number): string | null {
    const { partitionsMax } = this.#settings
    if (!Number.isSafeInteger(partitions) || partitions < 1) return `${partitions} partitions: at least 1 is needed`
    if (partitions <= partitionsMax) return null
    const allowed = partitionsMax === 1 ? 'a topic has one partition here' : `at most ${partitionsMax} are allowed`
    return `${partitions} partitions: ${allowed} (the operator's --kafka-max-partitions)`
  }
}

/** What Kafka says of a number of partitions that is no growth. */
function growthProblem(topic: string, current: number, wanted: number): string | null {
  if (wanted === current) return `Topic already has ${current} partition(s).`
  if (wanted > current) return null
  return `The topic ${topic} currently has ${current} partition(s); ${wanted} would not be an increase.`
}

function refused(refusal: CreateTopicRefusal): TopicCreation {
  return { refused: refusal }
}

function collision(topic: string, existingTopic: string): TopicCreation {
  const message = `topic ${topic} collides with ${existingTopic}: '.' and '_' count as the same`
  return refused({ kind: 'name-collision', message })
}

/** A version 4 UUID (RFC 9562) of 16 random bytes. */
export function randomUuid(random: Uint8Array): string {
  const bytes = Buffer.from(random)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return uuidFromBytes(bytes)
}
