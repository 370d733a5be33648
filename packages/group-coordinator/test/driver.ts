import {
  defaultGroupSettings,
  type GroupEvent,
  type GroupRecord,
  type GroupSettings,
  type GroupState,
  type GroupWrite,
  type JoinEvent,
  newGroup,
  type OffsetCommitEvent,
  type Reply,
  replay,
  step,
} from '../src/index.ts'

type ReplyOf<K extends Reply['kind']> = Extract<Reply, { kind: K }>['response']

/** Bytes of a text, for metadata and assignments. */
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (view: Uint8Array): string => new TextDecoder().decode(view)

/** One group in virtual time, with a log that is durable at once unless `holdWrites` is set. */
export class GroupDriver {
  state: GroupState
  nowMs = 1_000_000
  readonly log: GroupRecord[] = []
  readonly held: GroupWrite[] = []
  holdWrites = false
  #nextToken = 1
  #nextUuid = 1
  readonly #replies = new Map<number, Reply>()

  constructor(settings: Partial<GroupSettings> = {}, groupId = 'g') {
    this.state = newGroup(groupId, { ...defaultGroupSettings, groupInitialRebalanceDelayMs: 0, ...settings })
  }

  send(event: GroupEvent): void {
    const { state, replies, writes } = step(this.state, event, this.nowMs)
    this.state = state
    for (const reply of replies) {
      if (this.#replies.has(reply.requestToken)) throw new Error(`request ${reply.requestToken} answered twice`)
      this.#replies.set(reply.requestToken, reply)
    }
    this.held.push(...writes)
    while (!this.holdWrites && this.held.length > 0) this.completeWrite()
  }

  completeWrite(): void {
    const write = this.held.shift()
    if (write === undefined) throw new Error('no write is on its way')
    this.log.push(...write.records)
    this.send({ kind: 'writeCompleted', writeToken: write.writeToken })
  }

  failWrite(errorCode: number): void {
    const write = this.held.shift()
    if (write === undefined) throw new Error('no write is on its way')
    this.send({ kind: 'writeFailed', writeToken: write.writeToken, errorCode })
  }

  /** Lets time pass, ticking at every deadline on the way. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms
    while (this.state.nextDeadlineMs <= endMs) {
      this.nowMs = Math.max(this.nowMs, this.state.nextDeadlineMs)
      this.send({ kind: 'tick' })
    }
    this.nowMs = endMs
  }

  /** The coordinator dies and another one reads the log. */
  restart(): void {
    this.state = newGroup(this.state.groupId, this.state.settings)
    for (const record of this.log) this.state = replay(this.state, record)
  }

  reply<K extends Reply['kind']>(requestToken: number, kind: K): ReplyOf<K> {
    const reply = this.#replies.get(requestToken)
    if (reply === undefined) throw new Error(`request ${requestToken} has no answer yet`)
    if (reply.kind !== kind) throw new Error(`request ${requestToken} was answered as ${reply.kind}`)
    return reply.response as ReplyOf<K>
  }

  isAnswered(requestToken: number): boolean {
    return this.#replies.has(requestToken)
  }

  /** Sends a JoinGroup, by default of a v3 client with protocol `range`; returns its token. */
  join(fields: Partial<JoinEvent> = {}): number {
    const requestToken = this.#nextToken++
    this.send({
      kind: 'join',
      requestToken,
      memberId: '',
      groupInstanceId: null,
      freshUuid: `u${this.#nextUuid++}`,
      clientId: 'c',
      clientHost: '/10.0.0.1',
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 60_000,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: bytes('topics of c') }],
      requireKnownMemberId: false,
      supportsSkippingAssignment: false,
      ...fields,
    })
    return requestToken
  }

  sync(fields: {
    memberId: string
    generationId?: number
    groupInstanceId?: string | null
    protocolType?: string | null
    protocolName?: string | null
    assignments?: Record<string, string>
  }): number {
    const requestToken = this.#nextToken++
    this.send({
      kind: 'sync',
      requestToken,
      groupInstanceId: null,
      generationId: this.state.generationId,
      protocolType: null,
      protocolName: null,
      ...fields,
      assignments: Object.entries(fields.assignments ?? {}).map(([memberId, assignment]) => ({
        memberId,
        assignment: bytes(assignment),
      })),
    })
    return requestToken
  }

  /** The error code of a heartbeat in the current generation. */
  heartbeat(memberId: string, groupInstanceId: string | null = null, generationId = this.state.generationId): number {
    const requestToken = this.#nextToken++
    this.send({ kind: 'heartbeat', requestToken, memberId, groupInstanceId, generationId })
    return this.reply(requestToken, 'heartbeat').errorCode
  }

  leave(...members: { memberId: string; groupInstanceId?: string | null }[]): ReplyOf<'leave'> {
    const requestToken = this.#nextToken++
    const named = members.map((member) => ({ groupInstanceId: null, ...member }))
    this.send({ kind: 'leave', requestToken, members: named })
    return this.reply(requestToken, 'leave')
  }

  commit(offsets: Record<string, number>, fields: Partial<OffsetCommitEvent> = {}): number {
    const requestToken = this.#nextToken++
    this.send({
      kind: 'offsetCommit',
      requestToken,
      memberId: '',
      groupInstanceId: null,
      generationId: -1,
      retentionTimeMs: null,
      unknownGroupErrorCode: 69,
      topics: Object.entries(offsets).map(([topic, offset]) => ({
        topic,
        partitions: [{ partition: 0, offset, leaderEpoch: 7, metadata: null }],
      })),
      ...fields,
    })
    return requestToken
  }

  /** The code of the only partition of a commit. */
  commitCode(requestToken: number): number | undefined {
    return this.reply(requestToken, 'offsetCommit').topics[0]?.partitions[0]?.errorCode
  }

  fetch(topics: readonly { topic: string; partitions: readonly number[] }[] | null = null): number {
    const requestToken = this.#nextToken++
    this.send({ kind: 'offsetFetch', requestToken, topics })
    return requestToken
  }

  /** Committed offsets of partition 0, by topic, as a fetch of everything answers. */
  offsets(): Record<string, number> {
    const { topics } = this.reply(this.fetch(), 'offsetFetch')
    return Object.fromEntries(topics.map(({ topic, partitions }) => [topic, partitions[0]?.offset ?? -1]))
  }

  deleteGroup(): number {
    const requestToken = this.#nextToken++
    this.send({ kind: 'deleteGroup', requestToken })
    return requestToken
  }

  deleteOffsets(...topics: string[]): number {
    const requestToken = this.#nextToken++
    const named = topics.map((topic) => ({ topic, partitions: [0] }))
    this.send({ kind: 'deleteOffsets', requestToken, topics: named })
    return requestToken
  }

  /**
   * Brings a group to Stable with these members, the first as leader: all join, the leader assigns `part of <id>`.
   * Returns their member ids.
   */
  stable(...fields: Partial<JoinEvent>[]): string[] {
    const ids: string[] = []
    let tokens: number[] = []
    for (const one of fields) {
      const token = this.join(one)
      tokens = [...ids.map((memberId, i) => this.join({ ...fields[i], memberId })), token]
      this.advance(this.isAnswered(token) ? 0 : this.state.settings.groupInitialRebalanceDelayMs * 2)
      ids.push(this.reply(token, 'join').memberId)
    }
    const assignments = Object.fromEntries(ids.map((memberId) => [memberId, `part of ${memberId}`]))
    for (const [i, memberId] of ids.entries()) {
      this.sync({
        memberId,
        groupInstanceId: fields[i]?.groupInstanceId ?? null,
        assignments: i === 0 ? assignments : {},
      })
    }
    if (this.state.phase !== 'Stable' || !tokens.every((token) => this.isAnswered(token))) {
      throw new Error(`the group is ${this.state.phase}`)
    }
    return ids
  }
}
