import { strict as assert } from 'node:assert'
import { type Clock, type Log, LogClosedError } from '@pico/log'
import {
  FencedError,
  type Metadata,
  type NewStream,
  type NodeIdentity,
  SchemaMissingError,
  StreamExistsError,
  type StreamRecord,
  TopicCollisionError,
} from '@pico/metadata'
import { type CopiedRecords, copyOfRecords } from './fork-copies.ts'
import { endOfReserved, streamPathProblem, topicOfStreamName } from './names.ts'
import type { OpenPartition } from './open-partition.ts'
import type { OpenPartitions } from './open-partitions.ts'
import type { CreateStreamOutcome, ForkPoint, NewPathStream, NotOwner, StreamExpiry } from './path-streams.ts'
import type { Placement } from './placement.ts'
import type { Presence } from './presence.ts'
import { describeStream } from './stream-description.ts'
import { Elsewhere } from './stream-place.ts'
import { Together } from './together.ts'
import { type Topic, topicOfPath } from './topic.ts'
import { randomUuid } from './topic-catalog.ts'
import type { TopicConfig } from './topic-config.ts'
import { changedTopicConfig, unknownSchema } from './topic-config-change.ts'
import type { Judgement, SchemaNames } from './topic-schema.ts'
import { Turns } from './turns.ts'

export interface PathCreationParts {
  readonly metadata: Metadata
  readonly node: NodeIdentity
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  readonly partitions: OpenPartitions
  readonly presence: Presence
  readonly operatorDefaults: Readonly<Record<string, string>>
  readonly schemas: SchemaNames
  readonly log: Log
  /** Rows made in one transaction at most. */
  readonly createdTogetherMax: number
  readonly placement: Placement
  /** The answer that somebody else has a stream. */
  readonly notOwner: (owner: NodeIdentity | null) => NotOwner
  /** Deletes streams that do not count. */
  readonly remove: (records: readonly StreamRecord[]) => Promise<unknown>
}

/** A row that is there, and what a fork has to copy before it is revealed. */
interface Begun {
  readonly record: StreamRecord
  readonly copied: CopiedRecords | null
}

/** Makes streams by their paths, one at a time of each name. */
export class PathCreation {
  readonly #parts: PathCreationParts
  /** Of names that are being made. */
  readonly #turns = new Map<string, { readonly turns: Turns; waiting: number }>()

  readonly #rows: Together<NewStream, StreamRecord | Error>
  readonly #reveals: Together<{ streamId: number; isClosed: boolean }, boolean>

  constructor(parts: PathCreationParts) {
    this.#parts = parts
    this.#rows = new Together((rows) => this.#create(rows), parts.createdTogetherMax)
    this.#reveals = new Together(async (streams) => {
      const revealed = await parts.metadata.streams.reveal(parts.node, streams)
      return streams.map(({ streamId }) => revealed.has(streamId))
    }, parts.createdTogetherMax)
  }

  async create(stream: NewPathStream): Promise<CreateStreamOutcome> {
    const message = streamPathProblem(stream.name)
    if (message !== null) return { kind: 'invalid', message }
    const changed = await changedTopicConfig(stream.config, {}, this.#parts)
    const { config } = changed
    if (config === undefined) {
      const kind = changed.kind === 'unknown-schema' ? changed.kind : 'invalid'
      return { kind, message: changed.invalid }
    }

    const { name } = stream
    const entry = this.#turns.get(name) ?? { turns: new Turns(), waiting: 0 }
    this.#turns.set(name, entry)
    entry.waiting += 1
    try {
      return await entry.turns.take(() => this.#createNow(stream, config))
    } catch (error) {
      if (error instanceof FencedError || error instanceof LogClosedError) return this.#parts.notOwner(null)
      if (error instanceof SchemaMissingError) {
        return { kind: 'unknown-schema', message: unknownSchema(`${error.schemaName}:${error.version}`) }
      }
      throw error
    } finally {
      entry.waiting -= 1
      if (entry.waiting === 0) this.#turns.delete(name)
    }
  }

  async #createNow(stream: NewPathStream, config: TopicConfig): Promise<CreateStreamOutcome> {
    const { fork } = stream
    for (;;) {
      const existing = await this.#existing(stream)
      if (existing !== null) return existing
      const judgement = await judged(stream, config)
      if (judgement !== null && judgement.problems.length > 0) return { kind: 'breaks-schema', judgement }
      const begun = fork === undefined ? await this.#newRow(stream, config) : await this.#newFork(stream, fork, config)
      if (begun === null) continue // somebody was faster: what is there now counts
      if ('kind' in begun) return begun
      const { record, copied } = begun
      if (record.life === 'live') return { kind: 'created', stream: this.#describe(record) }
      return this.#fill(record, copied, stream, judgement)
    }
  }

  /** What is there already; null when the name is free, or has been made free of what does not count. */
  async #existing({ name, matches }: NewPathStream): Promise<CreateStreamOutcome | null> {
    const { metadata, presence, placement, remove, notOwner } = this.#parts
    const [record] = await metadata.streams.byName([name])
    if (record === undefined) return null
    if (record.life === 'gone') return { kind: 'conflict', message: `${name} was deleted, but has forks`, stream: null }
    if (record.life === 'live' && placement.isElsewhere(record.owner)) return notOwner(record.owner)
    if (!presence.isThere(record)) {
      await remove([record])
      return null
    }
    const existing = this.#describe(record)
    if (matches(existing)) return { kind: 'exists', stream: existing }
    return { kind: 'conflict', message: `${name} exists, and is another stream than was asked for`, stream: existing }
  }

  /** The row; null when the name is taken. */
  async #newRow(stream: NewPathStream, config: TopicConfig): Promise<Begun | null> {
    return this.#asTopicIfFree(stream, config, stream.records.length > 0, async (row) => {
      const record = await this.#rows.call(row)
      if (record instanceof Error) throw record
      return { record, copied: null }
    })
  }

  /** Where one of them cannot be made, each is made by itself. */
  async #create(rows: readonly NewStream[]): Promise<(StreamRecord | Error)[]> {
    const { metadata, clock } = this.#parts
    try {
      return await metadata.streams.create(rows, clock.nowMs())
    } catch (error) {
      const isOfOne =
        error instanceof StreamExistsError ||
        error instanceof TopicCollisionError ||
        error instanceof SchemaMissingError
      if (!isOfOne) throw error
      if (rows.length === 1) return [error]
      const records: (StreamRecord | Error)[] = []
      for (const row of rows) records.push(...(await this.#create([row])))
      return records
    }
  }

  /** The same with what the source has; only what lies in one batch with the end of it is to be copied. */
  async #newFork(
    stream: NewPathStream,
    { source: sourceName, offset, subOffset }: ForkPoint,
    config: TopicConfig,
  ): Promise<Begun | CreateStreamOutcome | null> {
    const { metadata, clock, log, partitions } = this.#parts
    const source = endOfReserved(sourceName) === null ? await partitions.getPath(sourceName) : 'missing'
    if (source instanceof Elsewhere) return this.#parts.notOwner(source.owner)
    if (typeof source === 'string') return { kind: `source-${source}` }
    if (offset > source.highWatermark) return { kind: 'fork-beyond-tail' }
    if (offset < source.startOffset) return { kind: 'fork-below-start' }
    const shared = await log.shareBelow(source.streamId, offset)
    if (shared === null) return null
    const { sharedEnd } = shared
    const copied = sharedEnd < offset ? await copyOfRecords(source, sharedEnd, offset) : null
    const isToBeFilled = copied !== null || stream.records.length > 0
    return this.#asTopicIfFree<Begun | CreateStreamOutcome | null>(stream, config, isToBeFilled, async (row) => {
      const fork = { stream: row, sourceStreamId: source.streamId, offset, subOffset, ...shared }
      const record = await metadata.streams.fork(fork, clock.nowMs())
      if (record === 'source-changed') {
        // It was compacted or trimmed meanwhile, perhaps by another node.
        await log.relocate(source.streamId)
        return null
      }
      return typeof record === 'string' ? { kind: record } : { record, copied }
    })
  }

  /** Null when the name is taken. Where only the topic is, HTTP alone can know the stream. */
  async #asTopicIfFree<T>(
    stream: NewPathStream,
    config: TopicConfig,
    isToBeFilled: boolean,
    make: (row: NewStream) => Promise<T>,
  ): Promise<T | null> {
    const { metadata, clock, random } = this.#parts
    for (const topic of new Set([topicOfStreamName(stream.name), null])) {
      try {
        return await make({
          name: stream.name,
          topic,
          partition: 0,
          topicId: randomUuid(random(16)),
          contentType: stream.contentType,
          config: config.overrides,
          life: isToBeFilled ? 'creating' : 'live',
          isClosed: stream.closed && !isToBeFilled,
          ...endOf(stream.expiry, clock.nowMs()),
        })
      } catch (error) {
        if (!(error instanceof StreamExistsError || error instanceof TopicCollisionError)) throw error
        if ((await metadata.streams.byName([stream.name])).length > 0) return null
      }
    }
    return null
  }

  /** The first records, and only then is the stream there. */
  async #fill(
    record: StreamRecord,
    copied: CopiedRecords | null,
    stream: NewPathStream,
    judgement: Judgement | null,
  ): Promise<CreateStreamOutcome> {
    const { partitions } = this.#parts
    const { streamId } = record
    try {
      const place = { topic: this.#topicOf(record), partition: 0, streamId, isClaimed: true } as const
      const opened = await partitions.openUnrevealed(place)
      const problem = opened === null ? goneMeanwhile : await append(opened, copied, stream, judgement)
      if (problem !== null || opened === null) {
        await this.#abandon(record)
        return { kind: 'invalid', message: problem ?? goneMeanwhile }
      }
      if (!(await this.#reveals.call({ streamId, isClosed: stream.closed })))
        return { kind: 'conflict', message: goneMeanwhile, stream: null }
      if (stream.closed) opened.wasCreatedClosed()
      partitions.revealed(opened)
      return { kind: 'created', stream: this.#describe({ ...record, life: 'live', isClosed: stream.closed }) }
    } catch (error) {
      await this.#abandon(record).catch(() => undefined) // a later sweep takes it; what failed first is what counts
      throw error
    }
  }

  async #abandon(record: StreamRecord): Promise<void> {
    await this.#parts.remove([record])
  }

  #topicOf(record: StreamRecord): Topic {
    const topic = topicOfPath(record, this.#parts.operatorDefaults)
    return record.topic === null ? topic : { ...topic, name: record.topic }
  }

  #describe(record: StreamRecord) {
    const { partitions, placement } = this.#parts
    return describeStream(record, partitions.opened(record.streamId), (row) => placement.expectedLeader(row))
  }
}

const goneMeanwhile = 'the stream was deleted while it was being made'

/** What the schema says of the first records; null where they are not held to one. */
async function judged({ records, judge }: NewPathStream, { schema }: TopicConfig): Promise<Judgement | null> {
  if (schema === null || records.length === 0) return null
  assert(judge !== undefined, 'whoever binds a schema can have records judged by it')
  return { schema, problems: await judge(schema) }
}

/** What is wrong with the records, or null when they are durable. */
async function append(
  opened: OpenPartition,
  copied: CopiedRecords | null,
  { records }: NewPathStream,
  judgement: Judgement | null,
): Promise<string | null> {
  const stored = copied === null ? undefined : opened.storeCopy(copied)
  if (stored === null) return goneMeanwhile
  if (records.length === 0) {
    await stored
    return null
  }
  // In the same flush or a later one, so that when these are durable the copies are.
  const outcome = opened.appendRecords(records, { judgement })
  if (outcome.kind === 'appended') {
    await outcome.committed
    return null
  }
  assert(outcome.kind === 'refused', 'nobody has written to a stream that nobody knows')
  const { why } = outcome
  if (why.kind === 'too-large') return why.message
  if (why.kind === 'invalid-record') return `record ${why.index}: ${why.message}`
  return goneMeanwhile
}

function endOf(expiry: StreamExpiry, nowMs: number): Pick<NewStream, 'expiresAtMs' | 'idleTtlMs'> {
  switch (expiry.kind) {
    case 'never':
      return {}
    case 'at':
      return { expiresAtMs: expiry.expiresAtMs }
    case 'idle': {
      const idleTtlMs = expiry.ttlSeconds * 1000
      return { expiresAtMs: nowMs + idleTtlMs, idleTtlMs }
    }
  }
}
