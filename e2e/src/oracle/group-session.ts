import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import {
  describeGroups,
  findCoordinator,
  heartbeat,
  joinGroup,
  leaveGroup,
  listGroups,
  offsetCommit,
  offsetFetch,
  type ResponseOf,
  syncGroup,
} from '@pico/kafka-codec'
import { connectRaw, type RawConnection } from '../raw-kafka.ts'
import { errorText, type Session } from './session.ts'

export type Joined = ResponseOf<typeof joinGroup>

export interface MemberSettings {
  readonly version?: number
  readonly groupId?: string
  readonly memberId?: string
  readonly generationId?: number
  readonly groupInstanceId?: string | null
  readonly protocolType?: string
  readonly protocols?: readonly string[]
  /** SyncGroup says nothing of its protocol. */
  readonly saysNothing?: boolean
  readonly sessionTimeoutMs?: number
  readonly rebalanceTimeoutMs?: number
  /** Instead of the scenario's own: what parks holds up its connection. */
  readonly connection?: RawConnection
}

const retriable = new Set([14, 15, 16])

/** Requests about the group of one scenario. Answers name members `m1`, `m2`, … in the order they were seen. */
export class GroupSession {
  readonly session: Session
  readonly groupId: string
  readonly #aliases = new Map<string, string>()
  readonly #connections: RawConnection[] = []

  private constructor(session: Session) {
    this.session = session
    this.groupId = `g-${session.topic}`
  }

  /** With the scenario's topic made and its coordinator found: Kafka makes the topic of offsets when it is first asked for. */
  static async open(session: Session): Promise<GroupSession> {
    await session.makeTopic()
    const group = new GroupSession(session)
    await group.whenCoordinated()
    return group
  }

  async whenCoordinated(): Promise<void> {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(50)) {
      const connection = await this.session.connection()
      const request = { key: this.groupId, keyType: 0, coordinatorKeys: [] }
      const found = await connection.ask(findCoordinator, 3, request)
      if (found.errorCode !== 0) continue
      const fetched = await this.fetchRaw(null)
      if (!retriable.has(fetched.errorCode)) return
    }
    throw new Error(`no coordinator for ${this.groupId}`)
  }

  async another(): Promise<RawConnection> {
    const connection = await connectRaw(this.session.port)
    this.#connections.push(connection)
    return connection
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  name(memberId: string): string {
    if (memberId === '') return ''
    let alias = this.#aliases.get(memberId)
    if (alias === undefined) {
      alias = `m${this.#aliases.size + 1}`
      this.#aliases.set(memberId, alias)
    }
    return alias
  }

  async join(settings: MemberSettings = {}): Promise<Joined> {
    const { version = 9, memberId = '', groupInstanceId = null, protocolType = 'consumer' } = settings
    const { sessionTimeoutMs = 10_000, rebalanceTimeoutMs = 10_000, protocols = ['range'] } = settings
    return (await this.#connection(settings)).ask(joinGroup, version, {
      groupId: settings.groupId ?? this.groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs: version === 0 ? -1 : rebalanceTimeoutMs,
      memberId,
      groupInstanceId,
      protocolType,
      protocols: protocols.map((name) => ({ name, metadata: Buffer.from(`metadata of ${name}`) })),
      reason: null,
    })
  }

  /** With the second step that a member without an id has to make since v4. */
  async enter(settings: MemberSettings = {}): Promise<Joined> {
    const first = await this.join(settings)
    return errorText(first.errorCode) === 'MEMBER_ID_REQUIRED'
      ? this.join({ ...settings, memberId: first.memberId })
      : first
  }

  joined(answer: Joined) {
    return {
      error: errorText(answer.errorCode),
      generation: answer.generationId,
      protocol: [answer.protocolType, answer.protocolName],
      leader: this.name(answer.leader),
      member: this.name(answer.memberId),
      skipAssignment: answer.skipAssignment,
      members: answer.members
        .map((each) => [this.name(each.memberId), each.groupInstanceId, Buffer.from(each.metadata).toString()])
        .sort(),
    }
  }

  async sync(settings: MemberSettings = {}, assignments: Readonly<Record<string, string>> = {}) {
    const { version = 5, memberId = '', generationId = -1, groupInstanceId = null } = settings
    const { protocolType = 'consumer', protocols = ['range'], saysNothing = version < 5 } = settings
    const answer = await (await this.#connection(settings)).ask(syncGroup, version, {
      groupId: settings.groupId ?? this.groupId,
      generationId,
      memberId,
      groupInstanceId,
      protocolType: saysNothing ? null : protocolType,
      protocolName: saysNothing ? null : (protocols[0] ?? null),
      assignments: Object.entries(assignments).map(([member, text]) => ({
        memberId: member,
        assignment: Buffer.from(text),
      })),
    })
    return {
      error: errorText(answer.errorCode),
      protocol: [answer.protocolType, answer.protocolName],
      assignment: Buffer.from(answer.assignment).toString(),
    }
  }

  async beat(settings: MemberSettings = {}): Promise<string> {
    const { version = 4, memberId = '', generationId = -1, groupInstanceId = null } = settings
    const request = { groupId: settings.groupId ?? this.groupId, generationId, memberId, groupInstanceId }
    return errorText((await (await this.#connection(settings)).ask(heartbeat, version, request)).errorCode)
  }

  /** Until a rebalance that another member has begun is told. */
  async beatUntil(wanted: string, settings: MemberSettings): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const told = await this.beat(settings)
      if (told === wanted || attempt === 200) return told
      await sleep(20)
    }
  }

  async leave(
    members: readonly (readonly [memberId: string, instance: string | null])[],
    settings: MemberSettings = {},
  ) {
    const { version = 5 } = settings
    const answer = await (await this.#connection(settings)).ask(leaveGroup, version, {
      groupId: settings.groupId ?? this.groupId,
      memberId: version < 3 ? (members[0]?.[0] ?? '') : '',
      members:
        version < 3 ? [] : members.map(([memberId, groupInstanceId]) => ({ memberId, groupInstanceId, reason: null })),
    })
    const each = answer.members.map((one) => [this.name(one.memberId), one.groupInstanceId, errorText(one.errorCode)])
    return { error: errorText(answer.errorCode), members: each }
  }

  /** Offsets by partition of the scenario's topic, or of another. */
  async commit(
    offsets: Readonly<Record<number, bigint | { offset: bigint; leaderEpoch?: number; metadata?: string | null }>>,
    settings: MemberSettings & { readonly topic?: string; readonly retentionTimeMs?: bigint } = {},
  ) {
    const { version = 9, memberId = '', generationId = -1, groupInstanceId = null, retentionTimeMs = -1n } = settings
    const answer = await (await this.#connection(settings)).ask(offsetCommit, version, {
      groupId: settings.groupId ?? this.groupId,
      generationIdOrMemberEpoch: generationId,
      memberId,
      groupInstanceId,
      retentionTimeMs,
      topics: [
        {
          name: settings.topic ?? this.session.topic,
          topicId: zeroUuid,
          partitions: Object.entries(offsets).map(([partition, what]) => {
            const { offset, leaderEpoch = -1, metadata = '' } = typeof what === 'bigint' ? { offset: what } : what
            return {
              partitionIndex: Number(partition),
              committedOffset: offset,
              committedLeaderEpoch: leaderEpoch,
              commitTimestamp: -1n,
              committedMetadata: metadata,
            }
          }),
        },
      ],
    })
    const { partitions } = answer.topics[0]!
    return partitions.map(({ partitionIndex, errorCode }) => `${partitionIndex}: ${errorText(errorCode)}`).sort()
  }

  /** Of the given partitions of the scenario's topic, or of everything. */
  async fetch(partitions: readonly number[] | null, settings: MemberSettings & { topic?: string } = {}) {
    const { errorCode, topics } = await this.fetchRaw(partitions, settings)
    const told = topics.map((topic) => ({
      topic: topic.name === this.session.topic ? 'own' : topic.name,
      partitions: topic.partitions.map((each) => ({
        ...each,
        committedOffset: `${each.committedOffset}`,
        error: errorText(each.errorCode),
      })),
    }))
    return { error: errorText(errorCode), topics: told }
  }

  async fetchRaw(partitions: readonly number[] | null, settings: MemberSettings & { topic?: string } = {}) {
    const { version = 8, groupId = this.groupId, topic = this.session.topic } = settings
    const topics = partitions === null ? null : [{ name: topic, topicId: zeroUuid, partitionIndexes: partitions }]
    const many = version >= 8
    const answer = await (await this.#connection(settings)).ask(offsetFetch, version, {
      groupId: many ? '' : groupId,
      topics: many ? [] : topics,
      groups: many ? [{ groupId, memberId: null, memberEpoch: -1, topics }] : [],
      requireStable: false,
    })
    return many ? answer.groups[0]! : answer
  }

  async describe(version = 6, groupId = this.groupId, includeAuthorizedOperations = false) {
    const connection = await this.session.connection()
    const { groups } = await connection.ask(describeGroups, version, {
      groups: [groupId],
      includeAuthorizedOperations: includeAuthorizedOperations && version >= 3,
    })
    const { members, errorCode, errorMessage, groupId: _, ...rest } = groups[0]!
    return {
      ...rest,
      error: errorText(errorCode),
      message: errorMessage?.replaceAll(groupId, 'GROUP') ?? null,
      members: members
        .map(({ memberId, memberMetadata, memberAssignment, ...member }) => ({
          member: this.name(memberId),
          metadata: Buffer.from(memberMetadata).toString(),
          assignment: Buffer.from(memberAssignment).toString(),
          ...member,
        }))
        .sort((a, b) => (a.member < b.member ? -1 : 1)),
    }
  }

  /** What the list says of this group. */
  async list(version: number, statesFilter: string[] = [], typesFilter: string[] = []) {
    const connection = await this.session.connection()
    const { errorCode, groups } = await connection.ask(listGroups, version, { statesFilter, typesFilter })
    const own = groups.filter(({ groupId }) => groupId === this.groupId)
    return { error: errorText(errorCode), groups: own.map(({ groupId: _, ...told }) => told) }
  }

  async #connection({ connection }: MemberSettings): Promise<RawConnection> {
    return connection ?? this.session.connection()
  }
}
