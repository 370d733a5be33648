import { strict as assert } from 'node:assert'
import type { Clock } from '@pico/log'
import {
  type Metadata,
  type NewStream,
  type NodeIdentity,
  StreamExistsError,
  type StreamRecord,
  TopicCollisionError,
} from '@pico/metadata'
import { streamPathProblem, topicOfStreamName } from './names.ts'
import type { OpenPartition } from './open-partition.ts'
import type { OpenPartitions } from './open-partitions.ts'
import type { CreateStreamOutcome, NewPathStream, StreamExpiry } from './path-streams.ts'
import type { Presence } from './presence.ts'
import { describeStream } from './stream-description.ts'
import { type Topic, topicOfPath } from './topic.ts'
import { randomUuid } from './topic-catalog.ts'
import { parseTopicConfig, type TopicConfig } from './topic-config.ts'
import { Turns } from './turns.ts'

export interface PathCreationParts {
  readonly metadata: Metadata
  readonly node: NodeIdentity
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  readonly partitions: OpenPartitions
  readonly presence: Presence
  readonly operatorDefaults: Readonly<Record<string, string>>
}

/** Makes streams by their paths, one at a time of each name. */
export class PathCreation {
  readonly #parts: PathCreationParts
  /** Of names that are being made. */
  readonly #turns = new Map<string, { readonly turns: Turns; waiting: number }>()

  constructor(parts: PathCreationParts) {
    this.#parts = parts
  }

  async create(stream: NewPathStream): Promise<CreateStreamOutcome> {
    const message = streamPathProblem(stream.name)
    if (message !== null) return { kind: 'invalid', message }
    const { config, invalid } = parseTopicConfig(stream.config, this.#parts.operatorDefaults)
    if (config === undefined) return { kind: 'invalid', message: invalid }

    const { name } = stream
    const entry = this.#turns.get(name) ?? { turns: new Turns(), waiting: 0 }
    this.#turns.set(name, entry)
    entry.waiting += 1
    try {
      return await entry.turns.take(() => this.#createNow(stream, config))
    } finally {
      entry.waiting -= 1
      if (entry.waiting === 0) this.#turns.delete(name)
    }
  }

  async #createNow(stream: NewPathStream, config: TopicConfig): Promise<CreateStreamOutcome> {
    const existing = await this.#existing(stream)
    if (existing !== null) return existing
    const record = await this.#newRow(stream, config)
    if (record === null) return this.#createNow(stream, config) // somebody was faster: what is there now counts
    if (record.life === 'live') return { kind: 'created', stream: this.#describe(record) }
    return this.#fill(record, stream)
  }

  /** What is there already; null when the name is free, or has been made free of what does not count. */
  async #existing({ name, matches }: NewPathStream): Promise<CreateStreamOutcome | null> {
    const { metadata, partitions, presence } = this.#parts
    const [record] = await metadata.streams.byName([name])
    if (record === undefined) return null
    if (record.life === 'gone') return { kind: 'conflict', message: `${name} was deleted, but has forks`, stream: null }
    if (!presence.isThere(record)) {
      await partitions.deleteStreams([record.streamId], record.topic === null ? [] : [record.topic])
      return null
    }
    const existing = this.#describe(record)
    if (matches(existing)) return { kind: 'exists', stream: existing }
    return { kind: 'conflict', message: `${name} exists, and is another stream than was asked for`, stream: existing }
  }

  /** The row, as a topic if that is free; null when the name is taken. */
  async #newRow(stream: NewPathStream, config: TopicConfig): Promise<StreamRecord | null> {
    const { metadata, clock, random } = this.#parts
    const nowMs = clock.nowMs()
    const hasRecords = stream.records.length > 0
    const row = {
      name: stream.name,
      partition: 0,
      topicId: randomUuid(random(16)),
      contentType: stream.contentType,
      config: config.overrides,
      life: hasRecords ? 'creating' : 'live',
      isClosed: stream.closed && !hasRecords,
      ...endOf(stream.expiry, nowMs),
    } as const satisfies Omit<NewStream, 'topic'>
    for (const topic of new Set([topicOfStreamName(stream.name), null])) {
      try {
        const [record] = await metadata.streams.create([{ ...row, topic }], nowMs)
        assert(record !== undefined, 'a stream is created or refused')
        return record
      } catch (error) {
        if (!(error instanceof StreamExistsError || error instanceof TopicCollisionError)) throw error
        // The name is taken, or only the topic: then HTTP alone can know the stream.
        if ((await metadata.streams.byName([stream.name])).length > 0) return null
      }
    }
    return null
  }

  /** The first records, and only then is the stream there. */
  async #fill(record: StreamRecord, stream: NewPathStream): Promise<CreateStreamOutcome> {
    const { partitions, metadata } = this.#parts
    const { streamId } = record
    try {
      const opened = await partitions.openUnrevealed({ topic: this.#topicOf(record), partition: 0, streamId })
      const problem = opened === null ? goneMeanwhile : await append(opened, stream)
      if (problem !== null || opened === null) {
        await this.#abandon(record)
        return { kind: 'invalid', message: problem ?? goneMeanwhile }
      }
      if (!(await metadata.streams.reveal(streamId, stream.closed)))
        return { kind: 'conflict', message: goneMeanwhile, stream: null }
      if (stream.closed) opened.wasCreatedClosed()
      partitions.revealed(opened)
      return { kind: 'created', stream: this.#describe({ ...record, life: 'live', isClosed: stream.closed }) }
    } catch (error) {
      await this.#abandon(record).catch(() => undefined) // a later sweep takes it; what failed first is what counts
      throw error
    }
  }

  async #abandon({ streamId, topic }: StreamRecord): Promise<void> {
    await this.#parts.partitions.deleteStreams([streamId], topic === null ? [] : [topic])
  }

  #topicOf(record: StreamRecord): Topic {
    const topic = topicOfPath(record, this.#parts.node, this.#parts.operatorDefaults)
    return record.topic === null ? topic : { ...topic, name: record.topic }
  }

  #describe(record: StreamRecord) {
    return describeStream(record, this.#parts.partitions.opened(record.streamId), this.#parts.node)
  }
}

const goneMeanwhile = 'the stream was deleted while it was being made'

/** What is wrong with the records, or null when they are durable. */
async function append(opened: OpenPartition, { records }: NewPathStream): Promise<string | null> {
  const outcome = opened.appendRecords(records)
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
