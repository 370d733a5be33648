import { strict as assert } from 'node:assert'
import {
  committedOffsets,
  type DescribedGroup,
  describeGroup,
  type FetchedTopic,
  type GroupEvent,
  type GroupRecord,
  type GroupRequest,
  type GroupState,
  type GroupWrite,
  isForgettable,
  type ListedGroup,
  listGroup,
  type Reply,
  refusal,
  snapshot,
  step,
} from '@pico/group-coordinator'
import { kafkaErrors } from '@pico/kafka-codec'
import type { DeletedTopic } from '@pico/streams'
import type { Operation } from '../operational-errors.ts'
import { type GroupLog, GroupWriteRefusedError } from './group-log.ts'
import type { GroupHostSettings } from './settings.ts'

export interface ServedGroupParts {
  /** As the log says it. */
  readonly state: GroupState
  /** Null for a group that has no stream, and therefore no members and no offsets either. */
  readonly log: GroupLog | null
  /** By topic: which topic of that name the group's offsets are for. */
  readonly topicIds: Map<string, string>
  readonly settings: GroupHostSettings
  /** Never runs backwards. */
  nowMs(): number
  explain(error: unknown, operation: Operation): number
  /** Called after everything that happened to the group. */
  happened(): void
}

export interface GroupPicture extends DescribedGroup {
  readonly generationId: number
  /** Durable ones. */
  readonly offsets: readonly FetchedTopic[]
}

/**
 * A group in memory: what happens to it goes through the state machine, what that wants written goes to the log, and answers go out
 * when the machine gives them. It ends by `unload`, or when it can no longer know what its log says; then it takes nothing any more.
 */
export class ServedGroup {
  readonly #parts: ServedGroupParts
  readonly #waiting = new Map<number, { readonly request: GroupRequest; readonly settle: (reply: Reply) => void }>()
  readonly #loadedAtMs: number
  #nextDeadlineMs = Number.POSITIVE_INFINITY
  /** The length of the log's tail at which a snapshot is considered. */
  #snapshotAt: number
  #isSnapshotting = false
  #isOver = false

  constructor(parts: ServedGroupParts) {
    this.#parts = parts
    this.#snapshotAt = parts.settings.snapshotRecordsMin
    this.#loadedAtMs = parts.nowMs()
  }

  /** Records that a snapshot of it would have. */
  get recordedSize(): number {
    return this.#liveOffsets() + (this.#parts.state.protocolType === null ? 0 : 1)
  }

  get hasLog(): boolean {
    return this.#parts.log !== null
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** It is as if it had never been. */
  get isForgettable(): boolean {
    return !this.#isOver && isForgettable(this.#parts.state) && !this.#isSnapshotting
  }

  /** Its log says all there is to say. */
  get isIdle(): boolean {
    const { phase, pendingMembers, offsets } = this.#parts.state
    return !this.#isOver && phase === 'Empty' && pendingMembers.size === 0 && offsets.size > 0 && !this.hasWrites
  }

  get hasWrites(): boolean {
    return this.#parts.state.pendingWrites.size > 0 || this.#isSnapshotting
  }

  /** When `tick` has something to do. */
  get nextDeadlineMs(): number {
    return this.#nextDeadlineMs
  }

  get protocolType(): string {
    return this.#parts.state.protocolType ?? ''
  }

  ask(request: GroupRequest, settle: (reply: Reply) => void): void {
    assert(!this.#isOver, 'a group that is over is asked nothing')
    this.#waiting.set(request.requestToken, { request, settle })
    this.#step(request)
  }

  /** `topicIds`: the topics that the request names, as they are now. One that replaced another of its name ends the other's offsets. */
  commit(request: GroupRequest, topicIds: ReadonlyMap<string, string>, settle: (reply: Reply) => void): void {
    const replaced = [...topicIds].filter(
      ([topic, topicId]) => (this.#parts.topicIds.get(topic) ?? topicId) !== topicId,
    )
    if (replaced.length > 0) this.topicsDeleted(replaced.map(([topic]) => topic))
    for (const [topic, topicId] of topicIds) this.#parts.topicIds.set(topic, topicId)
    this.ask(request, settle)
  }

  /** One that has its name now is another one. */
  topicDeleted({ topicId, name }: DeletedTopic): void {
    const names = [...this.#parts.topicIds].filter(([, id]) => id === topicId).map(([topic]) => topic)
    if (name !== null && !this.#parts.topicIds.has(name)) names.push(name)
    if (names.length > 0) this.topicsDeleted(names)
  }

  topicsDeleted(topics: readonly string[]): void {
    this.#step({ kind: 'topicsDeleted', topics })
    for (const topic of topics) this.#parts.topicIds.delete(topic)
  }

  tick(): void {
    this.#step({ kind: 'tick' })
  }

  describe(): DescribedGroup {
    return describeGroup(this.#parts.state)
  }

  picture(): GroupPicture {
    const { state } = this.#parts
    return { ...describeGroup(state), generationId: state.generationId, offsets: committedOffsets(state, null) }
  }

  list(): ListedGroup | null {
    return listGroup(this.#parts.state)
  }

  /** Answers whoever waits; writes on their way may or may not become durable. */
  unload(errorCode: number): void {
    this.#take({ kind: 'unload', errorCode })
    this.#isOver = true
    this.#parts.happened()
  }

  /**
   * Before an idle group is dropped: the log must say since when the group is empty, or its offsets would seem in use again whenever it
   * is loaded. Of a group whose members were lost with their coordinator it does not.
   */
  async recordEmptiness(): Promise<void> {
    const { state } = this.#parts
    const { protocolType, recordedMetadata } = state
    const emptySinceMs = state.emptySinceMs ?? this.#loadedAtMs
    if (protocolType === null || recordedMetadata?.emptySinceMs === emptySinceMs) return
    const since = (record: GroupRecord) => (record.kind === 'groupMetadata' ? { ...record, emptySinceMs } : record)
    await this.#writeSnapshot(snapshot(state).map(since))
  }

  #step(event: GroupEvent): void {
    if (this.#isOver) return
    this.#take(event)
    this.#parts.happened()
  }

  #take(event: GroupEvent): void {
    try {
      const { replies, writes, nextDeadlineMs } = step(this.#parts.state, event, this.#parts.nowMs())
      this.#nextDeadlineMs = nextDeadlineMs
      for (const write of writes) this.#write(write)
      for (const reply of replies) this.#answer(reply)
      this.#snapshotIfDue()
    } catch (error) {
      this.#abandon(this.#parts.explain(error, 'coordinate'))
    }
  }

  #answer(reply: Reply): void {
    const waiting = this.#waiting.get(reply.requestToken)
    assert(waiting !== undefined, 'a group answers a request once')
    this.#waiting.delete(reply.requestToken)
    waiting.settle(reply)
  }

  #write({ writeToken, records }: GroupWrite): void {
    const { log, topicIds, nowMs } = this.#parts
    assert(log !== null, 'what can write has a stream')
    log.append(records, topicIds, nowMs()).then(
      () => this.#step({ kind: 'writeCompleted', writeToken }),
      (error: unknown) => this.#writeFailed(writeToken, error),
    )
  }

  /** What surely is not in the log failed alone; whatever else went wrong, only the log knows what it says now. */
  #writeFailed(writeToken: number, error: unknown): void {
    if (this.#isOver) return
    const errorCode = refusedErrorCode(error) ?? this.#parts.explain(error, 'coordinate')
    if (errorCode === kafkaErrors.invalidCommitOffsetSize.code || isNotInLog(error)) {
      this.#step({ kind: 'writeFailed', writeToken, errorCode })
    } else {
      this.unload(errorCode)
    }
  }

  #snapshotIfDue(): void {
    const { log, state, settings } = this.#parts
    if (log === null || this.#isSnapshotting || log.tailRecords < this.#snapshotAt) return
    const offsets = this.#liveOffsets()
    this.#snapshotAt = Math.max(settings.snapshotRecordsMin, settings.snapshotGrowth * offsets)
    if (offsets === 0 || log.tailRecords < this.#snapshotAt) return
    this.#writeSnapshot(snapshot(state)).catch((error: unknown) => {
      this.#parts.explain(error, 'coordinate')
      this.#snapshotAt += log.tailRecords // The log stays longer than it need be, until the next try.
    })
  }

  async #writeSnapshot(records: readonly GroupRecord[]): Promise<void> {
    const { log, state, topicIds, nowMs } = this.#parts
    assert(log !== null, 'what can write has a stream')
    for (const topic of topicIds.keys()) if (!isKnown(state, topic)) topicIds.delete(topic)
    this.#isSnapshotting = true
    try {
      await log.replaceWith(records, topicIds, nowMs())
    } finally {
      this.#isSnapshotting = false
    }
    this.#parts.happened()
  }

  /** A bug: nothing that is in memory can be trusted, and nobody may be left waiting. */
  #abandon(errorCode: number): void {
    this.#isOver = true
    for (const { request, settle } of this.#waiting.values()) settle(refusal(request, errorCode))
    this.#waiting.clear()
  }

  #liveOffsets(): number {
    let count = 0
    for (const partitions of this.#parts.state.offsets.values()) count += partitions.size
    return count
  }
}

function isKnown(state: GroupState, topic: string): boolean {
  if (state.offsets.has(topic)) return true
  return [...state.pendingWrites.values()].some(({ records }) =>
    records.some((record) => record.kind === 'offsetCommit' && record.topic === topic),
  )
}

/** What the gate of the stream says, in terms of a group. */
function refusedErrorCode(error: unknown): number | undefined {
  if (!(error instanceof GroupWriteRefusedError)) return undefined
  switch (error.errorCode) {
    case kafkaErrors.messageTooLarge.code:
      return kafkaErrors.invalidCommitOffsetSize.code
    case kafkaErrors.unknownTopicOrPartition.code:
    case kafkaErrors.notLeaderOrFollower.code:
      return kafkaErrors.notCoordinator.code
    default:
      return undefined
  }
}

/** AppendFailedError of the log: the entry does not exist. */
function isNotInLog(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'PICO_LOG_APPEND_FAILED'
}
