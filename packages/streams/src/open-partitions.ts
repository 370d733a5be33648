import { strict as assert } from 'node:assert'
import { LogClosedError } from '@pico/log'
import { FencedError, MetadataUnavailableError } from '@pico/metadata'
import type { CompactedStream } from './key-compactor.ts'
import { OpenPartition, type PartitionEnd } from './open-partition.ts'
import type { Partition } from './partition.ts'
import { type Opening, PartitionOpener, type PartitionOpenerParts } from './partition-opener.ts'
import type { StreamsSettings } from './settings.ts'
import {
  Elsewhere,
  type NotFound,
  type PartitionDirectory,
  type PathDirectory,
  type PathMiss,
  type Place,
  placesOf,
  unknown,
  type Wanted,
} from './stream-place.ts'
import type { PartitionMiss, TopicRef } from './streams.ts'
import type { Topic } from './topic.ts'
import { Turns } from './turns.ts'

export interface OpenPartitionsParts extends PartitionOpenerParts {
  readonly catalog: PartitionDirectory
  /** Where there are streams to be found by their paths. */
  readonly paths?: PathDirectory
}

type Answer = OpenPartition | NotFound | Elsewhere

const nowhere = new Elsewhere(null)
/** Rows looked at in one turn, so that those who want to open something do not wait for long. */
const refreshedTogether = 500

interface Request {
  readonly wanted: Wanted
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * The partitions open on this node. What is not open is opened in rounds: everybody who asks while one is under way is in the
 * next, one query and one call to the log for all, answered in the order they asked. Deletions take turns with the rounds, so
 * nothing is opened while its rows go away.
 */
export class OpenPartitions {
  readonly #parts: OpenPartitionsParts
  readonly #openBatchMax: number
  readonly #opener: PartitionOpener
  readonly #turns = new Turns()
  readonly #open = new Map<number, OpenPartition>()
  /** Those of them that anybody may have by their path. */
  readonly #byPath = new Map<string, OpenPartition>()
  #waiting: Request[] = []
  readonly #suspended = new Set<number>()
  #hasEnded = false

  constructor(parts: OpenPartitionsParts, settings: StreamsSettings) {
    this.#parts = parts
    this.#openBatchMax = settings.openBatchMax
    this.#opener = new PartitionOpener(parts, settings, (opened) => this.#opened(opened))
  }

  get(topic: TopicRef, partition: number): Partition | PartitionMiss | Promise<Partition | PartitionMiss> {
    if (this.isOver) return 'not-owner'
    const streamId = this.#parts.catalog.cached(topic)?.partitions[partition]?.streamId
    const open = streamId === undefined ? undefined : this.#open.get(streamId)
    if (open?.isServing) return open
    return this.#ask({ topic, partition }).then((answer) => {
      assert(answer !== 'missing' && answer !== 'gone', 'these are answers about paths')
      return answer instanceof Elsewhere ? 'not-owner' : answer
    })
  }

  getPath(name: string): OpenPartition | PathMiss | Promise<OpenPartition | PathMiss> {
    if (this.isOver) return nowhere
    const open = this.openedPath(name)
    if (open !== undefined) return open
    return this.#ask({ path: name }).then((answer) => {
      return typeof answer !== 'string' || answer === 'gone' ? answer : 'missing'
    })
  }

  /** One that is open and may be had by its path, without opening it. */
  openedPath(name: string): OpenPartition | undefined {
    const open = this.isOver ? undefined : this.#byPath.get(name)
    return open?.isServing ? open : undefined
  }

  /** One that is open, without opening it. */
  opened(streamId: number): OpenPartition | undefined {
    return this.#open.get(streamId)
  }

  /** Opens a stream that nobody is to find by its name yet, here. Null when it is gone. */
  async openUnrevealed(place: Place): Promise<OpenPartition | null> {
    const opened = await this.#ask({ place })
    return opened instanceof OpenPartition ? opened : null
  }

  /** From now on it is found by its name. */
  revealed(partition: OpenPartition): void {
    if (this.#open.get(partition.streamId) === partition) this.#byPath.set(partition.name, partition)
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
      const deleted = await this.#delete(streamIds, [topic.name])
      return deleted.length > 0 ? topic : null
    })
  }

  /** The same for streams, with what they are known as. Returns the ids of those that were there. */
  deleteStreams(streamIds: readonly number[], topics: readonly string[]): Promise<number[]> {
    return this.#turns.take(() => this.#delete(streamIds, topics))
  }

  /** The open streams of topics that are compacted, as of now. */
  compacted(): CompactedStream[] {
    return [...this.#open.values()].flatMap((open) => open.compacted ?? [])
  }

  /** Takes turns with the rounds: nothing is opened while what it is opened with is being changed. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work)
  }

  /** What is open here of topics and streams that somebody else changed: their settings as SQL has them now, or their end. */
  async refresh(topicIds: readonly string[] | 'all'): Promise<void> {
    const wanted = topicIds === 'all' ? null : new Set(topicIds)
    const opened = this.all().filter(({ topicId }) => wanted === null || wanted.has(topicId))
    for (let at = 0; at < opened.length; at += refreshedTogether) {
      await this.exclusively(async () => {
        const some = opened.slice(at, at + refreshedTogether)
        const rows = await this.#parts.metadata.streams.byStreamId(some.map(({ streamId }) => streamId))
        const live = new Map(rows.flatMap((row) => (row.life === 'gone' ? [] : [[row.streamId, row]])))
        for (const { streamId } of some) {
          const row = live.get(streamId)
          if (row === undefined) this.#forget(streamId)
          else this.#open.get(streamId)?.reconfigure(this.#parts.catalog.configOf(row))
        }
      })
    }
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
    // It goes in a later round: SQL has to know first what is known here alone.
    if (open?.storeExpiry() === false) return false
    if (open?.isRecorded === false) {
      open.bringUpToDate().catch(() => undefined) // whoever closed it was told; the next round tries again
      return false
    }
    this.#end(streamId, 'dropped')
    return true
  }

  all(): OpenPartition[] {
    return [...this.#open.values()]
  }

  /**
   * Gives up streams: nothing is taken for them any more, what they have is made durable and taken over into extents; then `handOver`
   * says in SQL who may have them. Nothing is opened meanwhile: it would be opened here.
   */
  letGo<T>(streamIds: readonly number[], handOver: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      const opened = streamIds.flatMap((streamId) => this.#open.get(streamId) ?? [])
      const stop = async () => {
        for (const partition of opened) partition.suspend()
        await this.#settle(opened)
      }
      try {
        await this.#parts.log.release(
          opened.map(({ streamId }) => streamId),
          stop,
        )
      } catch (error) {
        for (const partition of opened) partition.resume()
        throw error
      }
      for (const { streamId } of opened) this.#end(streamId, 'lost')
      return handOver()
    })
  }

  /** Has SQL told all that is known of streams that take nothing at the moment. */
  async #settle(suspended: readonly OpenPartition[]): Promise<void> {
    await this.#parts.log.flush()
    for (const partition of suspended) {
      partition.storeExpiry()
      if (!partition.isRecorded) await partition.bringUpToDate()
    }
    await this.#parts.renewals.flush()
  }

  /** This node serves nothing for the moment. */
  interrupt(): void {
    for (const open of this.#open.values()) open.interrupt()
  }

  /** This node serves nothing from now on: it is fenced, or closing. */
  end(): void {
    this.#hasEnded = true
    for (const open of this.#open.values()) open.storeExpiry()
    for (const streamId of [...this.#open.keys()]) this.#end(streamId, 'lost')
  }

  /** Nothing is served here any more, open or not. */
  get isOver(): boolean {
    return this.#hasEnded || this.#parts.membership.isOver
  }

  #ask(wanted: Wanted): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ wanted, resolve, reject })
      if (this.#waiting.length === 1) void this.#turns.take(() => this.#round())
    })
  }

  async #delete(streamIds: readonly number[], topics: readonly string[]): Promise<number[]> {
    for (const topic of topics) this.#parts.catalog.forget(topic)
    try {
      const deleted = await this.#parts.metadata.streams.delete(streamIds, this.#parts.clock.nowMs())
      for (const streamId of streamIds) this.#forget(streamId)
      return deleted
    } catch (error) {
      if (error instanceof MetadataUnavailableError) this.#suspend(streamIds)
      throw error
    }
  }

  async #round(): Promise<void> {
    const requests = this.#waiting.splice(0, this.#openBatchMax)
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
        if (isOver) request.resolve(nowhere)
        else request.reject(error)
      }
    }
  }

  async #answers(requests: readonly Request[]): Promise<{ request: Request; answer: Answer | Error }[]> {
    const answered = await this.#answersByCache(requests)
    // What was at hand was of a topic that another node has deleted since, and perhaps made anew.
    const stale = answered.filter(({ isStale }) => isStale).map(({ request }) => request)
    if (stale.length === 0) return answered
    for (const { wanted } of stale) this.#parts.catalog.forgetRef(wanted.topic)
    const again = new Map((await this.#answersByCache(stale)).map((answer) => [answer.request, answer]))
    return answered.map((answer) => again.get(answer.request) ?? answer)
  }

  async #answersByCache(
    requests: readonly Request[],
  ): Promise<{ request: Request; answer: Answer | Error; isStale: boolean }[]> {
    const places = await placesOf(
      requests.map(({ wanted }) => wanted),
      this.#parts,
    )
    const outcome = await this.#openAll(places.filter((place) => typeof place !== 'string'))
    return requests.map((request, at) => {
      const place = places[at] ?? 'missing'
      if (typeof place === 'string') return { request, answer: place, isStale: false }
      const opened = this.#open.get(place.streamId) ?? outcome.get(place.streamId) ?? unknown(request.wanted)
      if (opened instanceof OpenPartition && opened.isExpired)
        return { request, answer: unknown(request.wanted), isStale: false }
      const isStale = typeof opened === 'string' && request.wanted.topic !== undefined
      return { request, answer: this.isOver ? nowhere : opened, isStale }
    })
  }

  /** Opens those that are not open. */
  async #openAll(places: readonly Place[]): Promise<ReadonlyMap<number, Opening>> {
    const closed = new Map(places.map((place) => [place.streamId, place]))
    for (const streamId of closed.keys()) if (this.#open.has(streamId)) closed.delete(streamId)
    return this.#opener.open(closed)
  }

  #opened(opened: OpenPartition): void {
    this.#open.set(opened.streamId, opened)
    if (opened.record.life === 'live') this.#byPath.set(opened.name, opened)
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
    if (open !== undefined && this.#byPath.get(open.name) === open) this.#byPath.delete(open.name)
    open?.end(why)
  }
}
