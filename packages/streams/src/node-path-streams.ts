import type { Metadata, NodeIdentity, StreamRecord } from '@pico/metadata'
import { endOfReserved, isInternalPath, streamNameOf } from './names.ts'
import type { OpenPartition } from './open-partition.ts'
import type { OpenPartitions } from './open-partitions.ts'
import { PathCreation, type PathCreationParts } from './path-creation.ts'
import type {
  CreateStreamOutcome,
  NewPathStream,
  NotOwner,
  PathStreamAnswer,
  PathStreams,
  StreamDescription,
  StreamMiss,
} from './path-streams.ts'
import type { Placement } from './placement.ts'
import type { Presence } from './presence.ts'
import { describeStream } from './stream-description.ts'
import { Elsewhere, type PathMiss } from './stream-place.ts'
import type { DeletedTopic } from './streams.ts'

export interface PathStreamsParts extends Omit<PathCreationParts, 'remove' | 'notOwner'> {
  readonly presence: Presence
  readonly placement: Placement
  readonly partitions: OpenPartitions
  readonly metadata: Metadata
  /** Told of a topic that went with its stream. */
  readonly onTopicDeleted: (topic: DeletedTopic) => void
}

/** Rows looked at together where streams are listed: those that do not count are few. */
const pageRowsMin = 100

export class NodePathStreams implements PathStreams {
  readonly #parts: PathStreamsParts
  readonly #creation: PathCreation

  constructor(parts: PathStreamsParts) {
    this.#parts = parts
    this.#creation = new PathCreation({
      ...parts,
      remove: (records) => this.deleteRecords(records),
      notOwner: (owner) => this.#notOwner(owner),
    })
  }

  create(stream: NewPathStream): Promise<CreateStreamOutcome> {
    return this.#creation.create(stream)
  }

  open(name: string): PathStreamAnswer | Promise<PathStreamAnswer> {
    if (isInternalPath(name)) return 'missing'
    const found = this.#parts.partitions.getPath(name)
    return found instanceof Promise ? found.then((later) => this.#answer(later)) : this.#answer(found)
  }

  async describe(name: string): Promise<StreamDescription | StreamMiss> {
    if (isInternalPath(name)) return 'missing'
    const open = this.#parts.partitions.openedPath(name)
    if (open !== undefined) return this.#describe(open.record)
    const [record] = await this.#parts.metadata.streams.byName([name])
    if (record === undefined) return 'missing'
    if (record.life === 'gone') return 'gone'
    // Where it ends by now, only its owner knows.
    if (this.#parts.placement.isElsewhere(record.owner)) return this.#notOwner(record.owner)
    if (!this.#parts.presence.isThere(record)) return 'missing'
    if (this.#isWholeInSql(record)) return this.#describe(record)
    const found = await this.#parts.partitions.getPath(name)
    return found instanceof Elsewhere || typeof found === 'string'
      ? this.#answerMiss(found)
      : this.#describe(found.record)
  }

  /** Of a stream that somebody has, or had when he died, there may be records that no row tells of: unless that is us, who do not have it open. */
  #isWholeInSql({ owner }: StreamRecord): boolean {
    const { placement, partitions } = this.#parts
    return owner === null || (placement.isAlone && placement.isHere(owner) && !partitions.isOver)
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
    const deleted = await this.deleteRecords([record])
    return isThere && deleted.has(record.streamId) ? 'deleted' : 'missing'
  }

  /** With the whole topic, where one is a topic. Returns those that nobody else was faster to delete. */
  async deleteRecords(records: readonly StreamRecord[]): Promise<ReadonlySet<number>> {
    const { metadata, partitions, onTopicDeleted } = this.#parts
    const topics = records.flatMap(({ topic }) => topic ?? [])
    const ofTopics = topics.length === 0 ? [] : await metadata.streams.byTopic(topics)
    const topicIds = new Set(records.map(({ topicId }) => topicId))
    const siblings = ofTopics.filter(({ topicId }) => topicIds.has(topicId))
    const streamIds = new Set([...records, ...siblings].map(({ streamId }) => streamId))
    await this.#parts.placement.bringHere([...streamIds])
    const deleted = new Set(await partitions.deleteStreams([...streamIds], topics))
    for (const { topic: name, topicId, life, streamId } of records) {
      if (name !== null && life === 'live' && deleted.has(streamId)) onTopicDeleted({ topicId, name })
    }
    return deleted
  }

  /** Makes way for a topic where what holds its name, or that of its stream, does not count. True when something did. */
  async clearAway(topic: string): Promise<boolean> {
    const { streams } = this.#parts.metadata
    const rows = [...(await streams.byName([streamNameOf(topic, 0)])), ...(await streams.byTopic([topic]))]
    const left = rows.filter((row) => row.life !== 'gone' && !this.#parts.presence.isThere(row))
    if (left.length === 0) return false
    await this.deleteRecords(left)
    return true
  }

  #describe(record: StreamRecord): StreamDescription {
    const { partitions, placement } = this.#parts
    return describeStream(record, partitions.opened(record.streamId), (row) => placement.expectedLeader(row))
  }

  #answer(found: OpenPartition | PathMiss): PathStreamAnswer {
    return found instanceof Elsewhere || typeof found === 'string' ? this.#answerMiss(found) : found
  }

  #answerMiss(miss: PathMiss): StreamMiss {
    return miss instanceof Elsewhere ? this.#notOwner(miss.owner) : miss
  }

  #notOwner(owner: NodeIdentity | null): NotOwner {
    const node = owner === null ? undefined : this.#parts.placement.liveNode(owner)
    return { kind: 'not-owner', ownerAddress: node?.addresses['http'] ?? null }
  }
}
