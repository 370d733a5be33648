import { defaultGroupSettings } from '@pico/group-coordinator'
import {
  heartbeat,
  joinGroup,
  leaveGroup,
  offsetCommit,
  offsetFetch,
  type ResponseOf,
  syncGroup,
} from '@pico/kafka-codec'
import type { GroupHostSettings } from '../../src/groups/settings.ts'
import { defaultKafkaApiSettings } from '../../src/index.ts'
import type { KafkaSystem, SystemSettings } from '../kafka-system.ts'

/** Settings under which a group forms as soon as its first member asks. */
export function groupSettings(settings: Partial<GroupHostSettings> = {}): SystemSettings {
  const groups = {
    ...defaultKafkaApiSettings.groups,
    protocol: { ...defaultGroupSettings, groupInitialRebalanceDelayMs: 0 },
    ...settings,
  }
  return { api: { groups } }
}

export interface MemberSettings {
  readonly groupId?: string
  readonly version?: number
  readonly memberId?: string
  readonly groupInstanceId?: string | null
  readonly sessionTimeoutMs?: number
  readonly rebalanceTimeoutMs?: number
  readonly protocolType?: string
  readonly protocols?: readonly string[]
  /** SyncGroup says nothing of its protocol. */
  readonly saysNothing?: boolean
}

type Joined = ResponseOf<typeof joinGroup>

export const bytes = (text: string) => Buffer.from(text)
export const text = (value: Uint8Array) => Buffer.from(value).toString()

/** What clients say about groups, one request at a time. */
export class GroupClient {
  readonly system: KafkaSystem

  constructor(system: KafkaSystem) {
    this.system = system
  }

  join(settings: MemberSettings = {}): Promise<Joined> {
    const { groupId = 'billing', version = 9, memberId = '', groupInstanceId = null } = settings
    const { sessionTimeoutMs = 10_000, rebalanceTimeoutMs = 60_000, protocolType = 'consumer' } = settings
    const { protocols = ['range'] } = settings
    return this.system.call(joinGroup, version, {
      groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs: version === 0 ? -1 : rebalanceTimeoutMs,
      memberId,
      groupInstanceId,
      protocolType,
      protocols: protocols.map((name) => ({ name, metadata: bytes(`metadata of ${name}`) })),
      reason: null,
    })
  }

  /** Joins, with the two steps that this takes since v4. */
  async enter(settings: MemberSettings = {}): Promise<Joined> {
    const first = await this.join(settings)
    return first.errorCode === 79 ? this.join({ ...settings, memberId: first.memberId }) : first
  }

  sync(joined: Joined, assignments: Readonly<Record<string, string>> = {}, settings: MemberSettings = {}) {
    const { groupId = 'billing', version = 5, groupInstanceId = null, saysNothing = version < 5 } = settings
    return this.system.call(syncGroup, version, {
      groupId,
      generationId: joined.generationId,
      memberId: joined.memberId,
      groupInstanceId,
      protocolType: saysNothing ? null : (joined.protocolType ?? 'consumer'),
      protocolName: saysNothing ? null : joined.protocolName,
      assignments: Object.entries(assignments).map(([memberId, value]) => ({ memberId, assignment: bytes(value) })),
    })
  }

  /** A group of one member that owns everything. */
  async enterAlone(settings: MemberSettings = {}): Promise<Joined> {
    const joined = await this.enter(settings)
    await this.sync(joined, { [joined.memberId]: 'all' }, { ...settings, version: 5 })
    return joined
  }

  async heartbeat({ memberId, generationId }: Joined, settings: MemberSettings = {}): Promise<number> {
    const { groupId = 'billing', version = 4, groupInstanceId = null } = settings
    const request = { groupId, generationId, memberId, groupInstanceId }
    return (await this.system.call(heartbeat, version, request)).errorCode
  }

  leave(memberIds: readonly string[], settings: MemberSettings = {}) {
    const { groupId = 'billing', version = 5 } = settings
    return this.system.call(leaveGroup, version, {
      groupId,
      memberId: version < 3 ? (memberIds[0] ?? '') : '',
      members: version < 3 ? [] : memberIds.map((memberId) => ({ memberId, groupInstanceId: null, reason: null })),
    })
  }

  /** The error code of each `topic-partition`. */
  async commit(
    offsets: Readonly<Record<string, number | bigint | CommittedOffset>>,
    settings: MemberSettings & { readonly by?: Joined; readonly retentionTimeMs?: number } = {},
  ): Promise<Record<string, number>> {
    const { groupId = 'billing', version = 9, groupInstanceId = null, by, retentionTimeMs = -1 } = settings
    const { topics } = await this.system.call(offsetCommit, version, {
      groupId,
      generationIdOrMemberEpoch: by?.generationId ?? -1,
      memberId: by?.memberId ?? '',
      groupInstanceId,
      retentionTimeMs: BigInt(retentionTimeMs),
      topics: Object.entries(offsets).map(([place, committed]) => {
        const { topic, partition } = placeOf(place)
        const { offset, leaderEpoch = -1, metadata = null } = detailsOf(committed)
        const partitions = [
          {
            partitionIndex: partition,
            committedOffset: BigInt(offset),
            committedLeaderEpoch: leaderEpoch,
            commitTimestamp: -1n,
            committedMetadata: metadata,
          },
        ]
        return { name: topic, topicId: zeroUuid, partitions }
      }),
    })
    return Object.fromEntries(
      topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, errorCode }) => [`${name}-${partitionIndex}`, errorCode] as const),
      ),
    )
  }

  /** Committed offsets by `topic-partition`; of all if none are named. Throws for an error of the group. */
  async committed(places: readonly string[] | null = null, groupId = 'billing'): Promise<Record<string, number>> {
    const topics =
      places?.map((place) => {
        const { topic, partition } = placeOf(place)
        return { name: topic, topicId: zeroUuid, partitionIndexes: [partition] }
      }) ?? null
    const group = { groupId, memberId: null, memberEpoch: -1, topics }
    const request = { groupId: '', topics: [], groups: [group], requireStable: false }
    const { groups } = await this.system.call(offsetFetch, 8, request)
    const [answer] = groups
    if (answer?.errorCode !== 0) throw new Error(`OffsetFetch: error ${answer?.errorCode}`)
    return Object.fromEntries(
      answer.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, committedOffset }) => [`${name}-${partitionIndex}`, Number(committedOffset)]),
      ),
    )
  }
}

const zeroUuid = '00000000-0000-0000-0000-000000000000'

export interface CommittedOffset {
  readonly offset: number | bigint
  readonly leaderEpoch?: number
  readonly metadata?: string | null
}

function detailsOf(committed: number | bigint | CommittedOffset): CommittedOffset {
  return typeof committed === 'object' ? committed : { offset: committed }
}

function placeOf(place: string): { topic: string; partition: number } {
  const at = place.lastIndexOf('-')
  return { topic: place.slice(0, at), partition: Number(place.slice(at + 1)) }
}
