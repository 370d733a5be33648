import { strict as assert } from 'node:assert'
import { type Clock, LogClosedError, type LogRead, type LogStream, type LogStreamObserver } from '@pico/log'
import {
  FencedError,
  type LeaderEpochStart,
  type Metadata,
  StreamNotOwnedError,
  type StreamRecord,
} from '@pico/metadata'
import { BatchView, type RecordInput } from '@pico/record-batch'
import type { BatchMemory } from './batch-memory.ts'
import { PartitionGoneError } from './errors.ts'
import type { ExpiryRenewals } from './expiry-renewals.ts'
import type { CopiedRecords } from './fork-copies.ts'
import { JudgedAppends, type JudgeRecords } from './judged-appends.ts'
import { gateErrors } from './kafka-errors.ts'
import type { CompactedStream } from './key-compactor.ts'
import { type EpochEnd, endOfEpoch } from './leader-epochs.ts'
import type { AppendContext, AppendOutcome, PartitionChange, TimestampHit } from './partition.ts'
import type {
  AppendRecordsOutcome,
  AppendTerms,
  CloseOutcome,
  HttpProducerStamp,
  PathStream,
  StreamExpiry,
} from './path-streams.ts'
import { ProduceGate, type ProduceGateSettings, refuse } from './produce-gate.ts'
import type { ProducerDescription } from './producer-table.ts'
import { RecordGate } from './record-gate.ts'
import { type ClosingParts, StreamClosing } from './stream-closing.ts'
import { OpenStreamExpiry } from './stream-expiry.ts'
import { StreamTail } from './stream-tail.ts'
import { firstRecordAt, firstRecordOfMaxTimestamp } from './timestamp-lookup.ts'
import type { Topic } from './topic.ts'
import type { TopicConfig } from './topic-config.ts'
import { isSameSchema, type Judgement } from './topic-schema.ts'
import { Watchers } from './watchers.ts'

export interface OpenPartitionParts extends ClosingParts {
  readonly topic: Topic
  readonly partition: number
  readonly clock: Clock
  readonly producerIdExpirationMs: number
  readonly judgingBytesMax: number
  readonly renewals: ExpiryRenewals
  readonly batchMemory: BatchMemory
  /** Whether this node may still serve anything. */
  readonly tenure: { readonly isOver: boolean }
}

/** Why a partition serves nobody any more: `dropped` from memory because it was idle. */
export type PartitionEnd = 'deleted' | 'lost' | 'dropped'

/** Produce versions of the requests that the two ways in stand for: zstd came with 7, v2 batches only with 3 (KIP-110, KIP-98). */
const produceVersions = { messageSet: 2, withoutZstd: 3, withZstd: 7 } as const

/** A stream that is open here, as both front ends see it. What is written goes through its gate. */
export class OpenPartition implements PathStream, LogStreamObserver {
  readonly partition: number
  readonly topic: string
  readonly topicId: string
  #config: TopicConfig
  readonly #stream: LogStream
  readonly #tail: StreamTail
  readonly #closing: StreamClosing
  readonly #expiry: OpenStreamExpiry
  readonly #tenure: { readonly isOver: boolean }
  readonly #producerIdExpirationMs: number
  readonly #batchMemory: BatchMemory
  /** Made when they are needed: most streams are written to by one kind of client, or read. */
  #gate: ProduceGate | null = null
  #recordGate: RecordGate | null = null
  readonly #watchers = new Watchers()
  readonly #judgingBytesMax: number
  /** Made when it is needed: most streams never are. */
  #judgedAppends: JudgedAppends | null = null
  readonly #metadata: Metadata
  #state: 'serving' | 'suspended' | PartitionEnd = 'serving'
  #epochHistory: Promise<LeaderEpochStart[]> | null = null

  /** @throws ProducerStateUnreadableError */
  constructor(stream: LogStream, parts: OpenPartitionParts) {
    const { topic, partition, clock, producerIdExpirationMs, judgingBytesMax } = parts
    this.partition = partition
    // Of two equal strings the row's is kept alone: this is there once per open stream.
    const { record } = stream
    this.topic = [record.topic, record.name].find((name) => name === topic.name) ?? topic.name
    this.topicId = record.topicId === topic.topicId ? record.topicId : topic.topicId
    this.#config = topic.config
    this.#judgingBytesMax = judgingBytesMax
    this.#stream = stream
    this.#metadata = parts.metadata
    this.#tenure = parts.tenure
    this.#tail = new StreamTail(stream, clock, this)
    this.#closing = new StreamClosing(this.#tail, record, parts)
    this.#expiry = new OpenStreamExpiry(record, clock, parts.renewals)
    this.#producerIdExpirationMs = producerIdExpirationMs
    this.#batchMemory = parts.batchMemory
  }

  get config(): TopicConfig {
    return this.#config
  }

  get streamId(): number {
    return this.#stream.streamId
  }

  get leaderEpoch(): number {
    return this.#stream.leaderEpoch
  }

  get startOffset(): number {
    return this.#stream.startOffset
  }

  get highWatermark(): number {
    return this.#stream.committedOffset
  }

  get sizeBytes(): number {
    return this.#stream.sizeBytes
  }

  /** As when it was opened, but for what has a property here. */
  get record(): StreamRecord {
    return this.#stream.record
  }

  get name(): string {
    return this.#stream.record.name
  }

  get incarnation(): string {
    return this.topicId
  }

  get contentType(): string {
    return this.#stream.record.contentType
  }

  get expiry(): StreamExpiry {
    return this.#expiry.expiry
  }

  get closed(): boolean {
    return this.#closing.isClosed
  }

  /** Its end has come, though it may not have been swept yet. */
  get isExpired(): boolean {
    return this.#expiry.isOver
  }

  get expiresAtMs(): number {
    return this.#expiry.expiresAtMs
  }

  get isServing(): boolean {
    return this.#state === 'serving' && !this.#expiry.isOver && !this.#tenure.isOver
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0
  }

  append(records: Uint8Array, { zstdAllowed, judgement = null }: AppendContext): AppendOutcome {
    const produceVersion = zstdAllowed ? produceVersions.withZstd : produceVersions.withoutZstd
    return this.#appendProduced(records, produceVersion, judgement)
  }

  appendMessageSet(messageSet: Uint8Array, judgement: Judgement | null = null): AppendOutcome {
    return this.#appendProduced(messageSet, produceVersions.messageSet, judgement)
  }

  #appendProduced(records: Uint8Array, produceVersion: number, judgement: Judgement | null): AppendOutcome {
    if (!this.isServing) return this.#refuse()
    this.#requireJudged(judgement)
    this.#expiry.touch()
    return this.#produceGate().append(records, produceVersion, judgement)
  }

  appendRecords(records: readonly RecordInput[], terms?: AppendTerms): AppendRecordsOutcome {
    if (!this.isServing) return { kind: 'refused', why: { kind: 'not-serving' } }
    this.#requireJudged(terms?.judgement ?? null)
    this.#expiry.touch()
    return this.#gateOfRecords().append(records, terms)
  }

  get isJudged(): boolean {
    return this.#config.schema !== null || this.#judgedAppends?.isBusy === true
  }

  get hasJudgingRoom(): boolean {
    return this.#judgedAppends?.hasRoom !== false
  }

  async whenJudgingRoom(): Promise<void> {
    await this.#judgedAppends?.whenRoom()
  }

  judged<T>(bytes: number, judge: JudgeRecords, act: (judgement: Judgement | null) => T): Promise<T> {
    this.#judgedAppends ??= new JudgedAppends(() => this.#config.schema, this.#judgingBytesMax)
    return this.#judgedAppends.take(bytes, judge, act)
  }

  /** Whoever forgets to ask is stopped here, for it is a bug. What is never judged: `storeCopy`, whose records another stream had. */
  #requireJudged(judgement: Judgement | null): void {
    const { schema } = this.#config
    if (schema === null) return
    assert(judgement !== null && isSameSchema(judgement.schema, schema), 'the records were not judged by their schema')
  }

  async closeNow(producer?: HttpProducerStamp): Promise<CloseOutcome> {
    // Without a record there is nothing to judge, but those that came before come before.
    if (this.#judgedAppends?.isBusy)
      return this.judged(
        0,
        async () => [],
        () => this.#closeNow(producer),
      )
    return this.#closeNow(producer)
  }

  async #closeNow(producer?: HttpProducerStamp): Promise<CloseOutcome> {
    if (!this.isServing) return { kind: 'refused', why: { kind: 'not-serving' } }
    this.#expiry.touch()
    const wasClosed = this.#closing.isClosed
    try {
      const outcome = await this.#gateOfRecords().close(producer)
      if (!wasClosed && this.#closing.isClosed) this.#watchers.notify('advanced')
      return outcome
    } catch (error) {
      if (isLost(error)) return { kind: 'refused', why: { kind: 'not-serving' } }
      throw error
    }
  }

  touch(): void {
    this.#expiry.touch()
  }

  read(
    offset: number,
    maxBytes: number,
    signal?: AbortSignal,
  ): LogRead | null | 'out-of-range' | Promise<LogRead | null> {
    if (!this.isServing) return Promise.reject(this.#goneError())
    this.#expiry.touch()
    if (offset < this.startOffset || offset > this.highWatermark) return 'out-of-range'
    return this.#stream.read(offset, maxBytes, signal)
  }

  /** The entry that holds `offset`, whether or not a trim has passed it, and without counting as a use of the stream. */
  readEntry(offset: number): LogRead | null | Promise<LogRead | null> {
    return this.#stream.read(offset, 1)
  }

  /**
   * Stores what was taken from another stream, as it is, also where records are held to a schema: a fork has what its source had, as a
   * topic keeps what it had when it is bound. Null when this node does not take anything any more.
   */
  storeCopy({ bytes, count, maxTimestampMs }: CopiedRecords): Promise<void> | null {
    const stored = this.#tail.store({ bytes, count, maxTimestampMs, summary: new Uint8Array(0) })
    if (stored instanceof Error) return null
    const batch = new BatchView(stored.bytes)
    batch.patchBaseOffset(stored.baseOffset)
    batch.patchPartitionLeaderEpoch(this.leaderEpoch)
    return stored.committed
  }

  watch(watcher: (change: PartitionChange) => void): () => void {
    return this.#watchers.add(watcher)
  }

  async offsetForTimestamp(timestampMs: number): Promise<TimestampHit | null> {
    this.#requireServing()
    return firstRecordAt(this.#stream, timestampMs)
  }

  async offsetOfMaxTimestamp(): Promise<TimestampHit | null> {
    this.#requireServing()
    return firstRecordOfMaxTimestamp(this.#stream)
  }

  async endOfEpoch(leaderEpoch: number): Promise<EpochEnd> {
    this.#requireServing()
    const current = { leaderEpoch: this.leaderEpoch, endOffset: this.highWatermark }
    const isPast = leaderEpoch >= 0 && leaderEpoch < current.leaderEpoch
    return endOfEpoch(leaderEpoch, current, isPast ? await this.#history() : [])
  }

  async leaderEpochOfStart(): Promise<number> {
    this.#requireServing()
    const began = (await this.#history()).findLast((epoch) => epoch.startOffset <= this.startOffset)
    return began?.leaderEpoch ?? this.leaderEpoch
  }

  async trim(offset: number): Promise<number | 'out-of-range'> {
    this.#requireServing()
    const target = offset === -1 ? this.highWatermark : offset
    if (target < 0 || target > this.highWatermark) return 'out-of-range'
    try {
      return await this.#stream.trim(target)
    } catch (error) {
      if (!(isLost(error) || error instanceof LogClosedError)) throw error
      throw new PartitionGoneError(this.topic, this.partition, 'lost', { cause: error })
    }
  }

  producers(): readonly ProducerDescription[] {
    return this.#tail.known.producers.describe(this.#tail.clock.nowMs())
  }

  committed(committedOffset: number): void {
    this.#tail.committed(committedOffset)
    this.#watchers.notify('advanced')
  }

  rolledBack(nextOffset: number): void {
    this.#tail.rolledBack(nextOffset)
  }

  /** What compaction by key works on. */
  get compacted(): CompactedStream | null {
    return this.#state === 'serving' && this.#config.compacted ? { stream: this.#stream, config: this.#config } : null
  }

  reconfigure(config: TopicConfig): void {
    this.#config = config
    this.#gate?.reconfigure(config)
    this.#recordGate?.reconfigure(config)
  }

  /** Whether it was deleted is not known: nothing is taken or given until `resume`, or `end`. */
  suspend(): void {
    if (this.#state === 'serving') this.#state = 'suspended'
  }

  resume(): void {
    if (this.#state === 'suspended') this.#state = 'serving'
  }

  /** This node serves nobody for the moment: whoever waits may find the stream elsewhere. */
  interrupt(): void {
    this.#watchers.notify('lost')
  }

  /** Serves nobody from now on, and says so to those who wait. */
  end(why: PartitionEnd): void {
    if (this.#state !== 'serving' && this.#state !== 'suspended') return
    this.#state = why
    if (why === 'deleted') this.#tail.deleted()
    if (why !== 'dropped') this.#watchers.notify(why)
  }

  /** It was made closed, by the statement that revealed it. */
  wasCreatedClosed(): void {
    this.#closing.wasCreatedClosed()
  }

  /** May it be dropped from memory? Not while SQL does not know all that is known here. */
  get isRecorded(): boolean {
    return this.#closing.isRecorded && !this.#closing.isUnknown
  }

  /** Has SQL told what it does not know yet. */
  async bringUpToDate(): Promise<void> {
    await this.#closing.findOut()
    if (this.#closing.isEnding) await this.#closing.recorded()
  }

  /** Has SQL told when it ends, as exactly as is known here. False while it does not know yet. */
  storeExpiry(): boolean {
    return this.#expiry.store()
  }

  #produceGate(): ProduceGate {
    this.#gate ??= new ProduceGate(this.#tail, this.#closing, this.#gateSettings())
    return this.#gate
  }

  #gateOfRecords(): RecordGate {
    this.#recordGate ??= new RecordGate(this.#tail, this.#closing, {
      ...this.#gateSettings(),
      memory: this.#batchMemory,
    })
    return this.#recordGate
  }

  #gateSettings(): ProduceGateSettings {
    return { config: this.#config, producerIdExpirationMs: this.#producerIdExpirationMs }
  }

  #refuse(): AppendOutcome {
    const code =
      this.#state === 'deleted' || this.#expiry.isOver
        ? gateErrors.unknownTopicOrPartition
        : gateErrors.notLeaderOrFollower
    return refuse(code, this.#goneError().message)
  }

  #requireServing(): void {
    if (!this.isServing) throw this.#goneError()
  }

  #goneError(): PartitionGoneError {
    return new PartitionGoneError(this.topic, this.partition, this.#expiry.isOver ? 'expired' : this.#state)
  }

  /** What was before this epoch cannot change while the stream is ours, so it is read once; a failure is not kept. */
  async #history(): Promise<LeaderEpochStart[]> {
    this.#epochHistory ??= this.#metadata.streams.leaderEpochs(this.streamId)
    try {
      return await this.#epochHistory
    } catch (error) {
      this.#epochHistory = null
      throw error
    }
  }
}

/** Somebody else has the stream by now, or this node is to have none. */
function isLost(error: unknown): boolean {
  return error instanceof FencedError || error instanceof StreamNotOwnedError
}
