import { strict as assert } from 'node:assert'
import { type Clock, type Log, LogClosedError, type LogStream, type LogStreamObserver } from '@pico/log'
import { FencedError, type Metadata, MetadataUnavailableError } from '@pico/metadata'
import { ProducerStateUnreadableError } from './errors.ts'
import { OpenPartition, type PartitionEnd } from './open-partition.ts'
import type { Partition } from './partition.ts'
import type { StreamsSettings } from './settings.ts'
import type { PartitionMiss, TopicRef } from './streams.ts'
import type { Topic } from './topic.ts'
import { Turns } from './turns.ts'

export interface OpenPartitionsParts {
  readonly log: Log
  readonly metadata: Metadata
  readonly clock: Clock
  readonly catalog: PartitionDirectory
}

/** Where partitions are looked up: the catalog of topics, or the names of our own streams. */
export interface PartitionDirectory {
  /** At hand, without asking SQL. */
  cached(ref: TopicRef): Topic | undefined
  /** In the order asked for. Those found are at hand from then on if `remember` says so. */
  find(refs: readonly TopicRef[], remember: boolean): Promise<(Topic | undefined)[]>
  /** What SQL says of them now, in any order; unknown ones are left out. */
  lookUp(refs: readonly TopicRef[]): Promise<Topic[]>
  forget(name: string): void
}

type Answer = Partition | PartitionMiss

interface Request {
  readonly topic: TopicRef
  readonly partition: number
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Where a stream belongs, for those about to be opened. */
interface Place {
  readonly topic: Topic
  readonly partition: number
  readonly streamId: number
}

const unobserved: LogStreamObserver = { committed: () => undefined, rolledBack: () => undefined }

/**
 * The partitions open on this node. What is not open is opened in rounds: everybody who asks while one is under way is in the
 * next, one query and one call to the log for all, answered in the order they asked. Deletions take turns with the rounds, so
 * nothing is opened while its rows go away.
 */
export class OpenPartitions {
  readonly #parts: OpenPartitionsParts
  readonly #settings: StreamsSettings
  readonly #turns = new Turns()
  readonly #open = new Map<number, OpenPartition>()
  #waiting: Request[] = []
  readonly #suspended = new Set<number>()
  #isOver = false

  constructor(parts: OpenPartitionsParts, settings: StreamsSettings) {
    this.#parts = parts
    this.#settings = settings
  }

  get(topic: TopicRef, partition: number): Answer | Promise<Answer> {
    if (this.#isOver) return 'not-owner'
    const streamId = this.#parts.catalog.cached(topic)?.partitions[partition]?.streamId
    const open = streamId === undefined ? undefined : this.#open.get(streamId)
    if (open?.isServing) return open
    return new Promise((resolve, reject) => {
      this.#waiting.push({ topic, partition, resolve, reject })
      if (this.#waiting.length === 1) void this.#turns.take(() => this.#round())
    })
  }

  /**
   * Rows first, so that a crash in between leaves nothing that nobody can delete; then the log forgets. Returns what was deleted, null
   * when there was nothing.
   */
  deleteTopic(ref: TopicRef): Promise<Topic | null> {
    return this.#turns.take(async () => {
      const [topic] = await this.#parts.catalog.lookUp([ref])
      if (topic === undefined) return null
      const streamIds = topic.partitions.map(({ streamId }) => streamId)
      this.#parts.catalog.forget(topic.name)
      try {
        const deleted = await this.#parts.metadata.streams.delete(streamIds, this.#parts.clock.nowMs())
        for (const streamId of streamIds) this.#forget(streamId)
        return deleted.length > 0 ? topic : null
      } catch (error) {
        if (error instanceof MetadataUnavailableError) this.#suspend(streamIds)
        throw error
      }
    })
  }

  /** Takes turns with the rounds: nothing is opened while what it is opened with is being changed. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work)
  }

  /** The settings of a topic, in force from now on. */
  reconfigure({ partitions, config }: Topic): void {
    for (const { streamId } of partitions) this.#open.get(streamId)?.reconfigure(config)
  }

  /** Bytes held, by stream. What is not open here has nothing that SQL does not know of (invariant B). */
  async sizes(streams: readonly { readonly streamId: number }[]): Promise<Map<number, number>> {
    const closed = streams.flatMap(({ streamId }) => (this.#open.has(streamId) ? [] : [streamId]))
    const rows = closed.length === 0 ? [] : await this.#parts.metadata.streams.byStreamId(closed)
    const sizes = new Map(rows.map(({ streamId, packedBytes }) => [streamId, packedBytes]))
    for (const { streamId } of streams) {
      const open = this.#open.get(streamId)
      if (open !== undefined) sizes.set(streamId, open.sizeBytes)
    }
    return sizes
  }

  /** May the log drop it from memory? Not while somebody waits on it. */
  dropIdle(streamId: number): boolean {
    const open = this.#open.get(streamId)
    if (open?.isWatched) return false
    this.#end(streamId, 'dropped')
    return true
  }

  /** This node serves nothing from now on: it is fenced, or closing. */
  end(): void {
    this.#isOver = true
    for (const streamId of [...this.#open.keys()]) this.#end(streamId, 'lost')
  }

  async #round(): Promise<void> {
    const requests = this.#waiting.splice(0, this.#settings.openBatchMax)
    if (this.#waiting.length > 0) void this.#turns.take(() => this.#round())
    try {
      await this.#settleSuspended()
      for (const { request, answer } of await this.#answers(requests)) {
        if (answer instanceof Error) request.reject(answer)
        else request.resolve(answer)
      }
    } catch (error) {
      const isOver = error instanceof FencedError || error instanceof LogClosedError
      for (const request of requests) {
        if (isOver) request.resolve('not-owner')
        else request.reject(error)
      }
    }
  }

  async #answers(requests: readonly Request[]): Promise<{ request: Request; answer: Answer | Error }[]> {
    const refs = requests.map(({ topic }) => topic)
    const topics = await this.#parts.catalog.find(refs, true)
    const places = requests.map(({ partition }, index): Place | undefined => {
      const topic = topics[index]
      const streamId = topic?.partitions[partition]?.streamId
      return topic === undefined || streamId === undefined ? undefined : { topic, partition, streamId }
    })
    const failures = await this.#openAll(places.filter((place) => place !== undefined))
    return requests.map((request, index) => {
      const unknown = request.topic.name === undefined ? 'unknown-topic-id' : 'unknown-topic'
      const place = places[index]
      if (place === undefined) return { request, answer: topics[index] === undefined ? unknown : 'unknown-partition' }
      const opened = failures.get(place.streamId) ?? this.#open.get(place.streamId) ?? unknown
      return { request, answer: this.#isOver ? 'not-owner' : opened }
    })
  }

  /** Opens those that are not open. Returns what went wrong with single ones of them. */
  async #openAll(places: readonly Place[]): Promise<Map<number, Error>> {
    const failures = new Map<number, Error>()
    const closed = new Map(places.map((place) => [place.streamId, place]))
    for (const streamId of closed.keys()) if (this.#open.has(streamId)) closed.delete(streamId)
    if (closed.size === 0) return failures
    await this.#parts.log.open([...closed.keys()], (stream) => {
      try {
        return this.#opened(stream, closed.get(stream.streamId))
      } catch (error) {
        if (!(error instanceof ProducerStateUnreadableError)) throw error
        failures.set(stream.streamId, error)
        return unobserved
      }
    })
    // One stream that cannot be served must not keep the others from being opened.
    for (const streamId of failures.keys()) this.#parts.log.forget(streamId)
    return failures
  }

  #opened(stream: LogStream, place: Place | undefined): OpenPartition {
    const { streamId } = stream
    assert(place !== undefined, 'the log opens what it was asked to')
    const { clock, metadata } = this.#parts
    const { producerIdExpirationMs } = this.#settings
    const leaderEpochs = () => metadata.streams.leaderEpochs(streamId)
    const { topic, partition } = place
    const opened = new OpenPartition(stream, { topic, partition, clock, producerIdExpirationMs, leaderEpochs })
    this.#open.set(streamId, opened)
    return opened
  }

  /** A deletion whose outcome is unknown: the rows say it, as soon as the database can be asked again. */
  async #settleSuspended(): Promise<void> {
    if (this.#suspended.size === 0) return
    const rows = await this.#parts.metadata.streams.byStreamId([...this.#suspended])
    const alive = new Set(rows.map(({ streamId }) => streamId))
    for (const streamId of this.#suspended) {
      if (alive.has(streamId)) this.#open.get(streamId)?.resume()
      else this.#forget(streamId)
    }
    this.#suspended.clear()
  }

  #suspend(streamIds: readonly number[]): void {
    for (const streamId of streamIds) {
      const open = this.#open.get(streamId)
      if (open === undefined) continue
      open.suspend()
      this.#suspended.add(streamId)
    }
  }

  /** Its rows are gone. */
  #forget(streamId: number): void {
    this.#parts.log.forget(streamId)
    this.#end(streamId, 'deleted')
  }

  #end(streamId: number, why: PartitionEnd): void {
    const open = this.#open.get(streamId)
    this.#open.delete(streamId)
    open?.end(why)
  }
}
