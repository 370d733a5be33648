import type { Metadata, StreamRecord } from '@pico/metadata'
import { endOfReserved, isInternalPath } from './names.ts'
import type { OpenPartition } from './open-partition.ts'
import type { OpenPartitions, PathMiss } from './open-partitions.ts'
import { PathCreation, type PathCreationParts } from './path-creation.ts'
import type {
  CreateStreamOutcome,
  NewPathStream,
  PathStreamAnswer,
  PathStreams,
  StreamDescription,
  StreamMiss,
} from './path-streams.ts'
import type { Presence } from './presence.ts'
import { describeStream } from './stream-description.ts'

export interface PathStreamsParts extends PathCreationParts {
  readonly presence: Presence
  readonly partitions: OpenPartitions
  readonly metadata: Metadata
  /** Told of a topic that went with its stream. */
  readonly onTopicDeleted: (topic: string) => void
}

/** Rows looked at together where streams are listed: those that do not count are few. */
const pageRowsMin = 100

export class NodePathStreams implements PathStreams {
  readonly #parts: PathStreamsParts
  readonly #creation: PathCreation

  constructor(parts: PathStreamsParts) {
    this.#parts = parts
    this.#creation = new PathCreation(parts)
  }

  create(stream: NewPathStream): Promise<CreateStreamOutcome> {
    return this.#creation.create(stream)
  }

  open(name: string): PathStreamAnswer | Promise<PathStreamAnswer> {
    if (isInternalPath(name)) return 'missing'
    const found = this.#parts.partitions.getPath(name)
    return found instanceof Promise ? found.then(pathAnswer) : pathAnswer(found)
  }

  async describe(name: string): Promise<StreamDescription | StreamMiss> {
    if (isInternalPath(name)) return 'missing'
    const [record] = await this.#parts.metadata.streams.byName([name])
    if (record === undefined) return 'missing'
    if (record.life === 'gone') return 'gone'
    return this.#parts.presence.isThere(record) ? this.#describe(record) : 'missing'
  }

  async list(page: { prefix: string; after: string | null; limit: number }): Promise<StreamDescription[]> {
    const found: StreamDescription[] = []
    let { after } = page
    while (found.length < page.limit) {
      const limit = Math.max(page.limit - found.length, pageRowsMin)
      const rows = await this.#parts.metadata.streams.list({ prefix: page.prefix, after, limit })
      for (const record of rows) {
        if (endOfReserved(record.name) !== null) continue
        if (found.length < page.limit && this.#parts.presence.isThere(record)) found.push(this.#describe(record))
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < limit) break
      // What is reserved lies side by side, and may be long.
      after = endOfReserved(last.name) ?? last.name
    }
    return found
  }

  async delete(name: string): Promise<'deleted' | StreamMiss> {
    if (endOfReserved(name) !== null) return 'missing'
    const [record] = await this.#parts.metadata.streams.byName([name])
    if (record === undefined) return 'missing'
    if (record.life === 'gone') return 'gone'
    const isThere = this.#parts.presence.isThere(record)
    const isDeleted = await this.deleteRecord(record)
    return isThere && isDeleted ? 'deleted' : 'missing'
  }

  /** With the whole topic, where it is one. False when somebody else was faster. */
  async deleteRecord(record: StreamRecord): Promise<boolean> {
    const { metadata, partitions, onTopicDeleted } = this.#parts
    const { streamId, topic } = record
    const rows = topic === null ? [record] : await metadata.streams.byTopic([topic])
    const streamIds = rows.filter(({ topicId }) => topicId === record.topicId).map((row) => row.streamId)
    const deleted = await partitions.deleteStreams(
      [...new Set([streamId, ...streamIds])],
      topic === null ? [] : [topic],
    )
    if (topic !== null && record.life === 'live' && deleted.length > 0) onTopicDeleted(topic)
    return deleted.includes(streamId)
  }

  #describe(record: StreamRecord): StreamDescription {
    return describeStream(record, this.#parts.partitions.opened(record.streamId), this.#parts.node)
  }
}

function pathAnswer(found: OpenPartition | PathMiss): PathStreamAnswer {
  // Who has it instead is not known yet: one node has everything.
  return found === 'not-owner' ? { kind: 'not-owner', ownerAddress: null } : found
}
