import type { OffsetFetchEvent } from './events.ts'
import type { Member } from './member.ts'
import type { GroupRecord } from './records.ts'
import type { Reply } from './replies.ts'
import type { GroupSettings } from './settings.ts'

/** What Kafka calls the group's state, spelled as ListGroups and DescribeGroups spell it. Dead = there is no such group. */
export type GroupPhase = 'Dead' | 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'

/** The deadline of a timer that is not armed. */
export const never = Number.POSITIVE_INFINITY

/**
 * One group. Owned by whoever holds it, but changed by `step` and `replay` alone, in place: so that a heartbeat costs
 * the same in a group of three and of five hundred. Nothing outside may keep a part of it across a call.
 */
export interface GroupState {
  readonly groupId: string
  readonly settings: GroupSettings
  phase: GroupPhase
  /** 0 before the first generation. Grows for as long as the group exists here; starts again where it is replayed. */
  generationId: number
  /** null = no member has ever joined: offsets of a "simple" consumer. Survives the members. */
  protocolType: string | null
  protocolName: string | null
  leaderId: string | null

  /** By member id, in the order of joining. */
  readonly members: Map<string, Member>
  /** Instance id of a static member -> its current member id. */
  readonly staticMemberIds: Map<string, string>
  /** Member ids given out by MEMBER_ID_REQUIRED -> when they lapse. */
  readonly pendingMembers: Map<string, number>
  /** Members of this generation whose SyncGroup has not come. */
  readonly pendingSync: Set<string>
  /** How many members support a protocol, by its name. */
  readonly protocolCounts: Map<string, number>
  /** Members with a parked JoinGroup: the join barrier opens when it is all of them. */
  parkedJoins: number
  /** Of a consumer group's current generation; null where unknown or where the protocol is not the consumer's. */
  subscribedTopics: ReadonlySet<string> | null
  /** Set during the join phase of a group that was Empty. */
  initialJoin: { remainingMs: number; newMemberAdded: boolean } | null

  joinDueMs: number
  syncDueMs: number
  expiryCheckDueMs: number
  /** Never later than the earliest deadline: heartbeats move deadlines away without looking for the next one. */
  nextDeadlineMs: number

  /** null while it has members, or right after replay: then the next look sets it. */
  emptySinceMs: number | null
  /** Durable offsets by topic and partition. */
  readonly offsets: Map<string, Map<number, CommittedOffset>>
  /** Issued and not yet answered, in order. */
  readonly pendingWrites: Map<number, PendingWrite>
  nextWriteToken: number
  /** The `groupMetadata` last issued; null = none, or unknown since a write failed. */
  recordedMetadata: { readonly protocolType: string; readonly emptySinceMs: number | null } | null
  /** The log holds, or will, something of this group: when the group goes, it must be told. */
  isLogged: boolean
  /** A `groupDeleted` is on its way: the group is dead to everybody, until it is durable or has failed. */
  deleting: boolean
  /** Set by `unload`: what every later request is told. */
  unloadedErrorCode: number | null
}

export interface CommittedOffset {
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
  readonly commitTimestampMs: number
  readonly expireTimestampMs: number | null
}

export interface PendingWrite {
  readonly records: readonly GroupRecord[]
  /** The answer if it succeeds; null where nobody waits. */
  readonly reply: Reply | null
  /** Reads that came after this write and must see it. */
  readonly fetches: OffsetFetchEvent[]
  /** null = on its way; 0 = durable; else the code it failed with. */
  outcome: number | null
}

/** A group that nobody knows yet (Dead): feed it the log with `replay`, then events with `step`. */
export function newGroup(groupId: string, settings: GroupSettings): GroupState {
  return {
    groupId,
    settings,
    phase: 'Dead',
    generationId: 0,
    protocolType: null,
    protocolName: null,
    leaderId: null,
    members: new Map(),
    staticMemberIds: new Map(),
    pendingMembers: new Map(),
    pendingSync: new Set(),
    protocolCounts: new Map(),
    parkedJoins: 0,
    subscribedTopics: null,
    initialJoin: null,
    joinDueMs: never,
    syncDueMs: never,
    expiryCheckDueMs: never,
    nextDeadlineMs: never,
    emptySinceMs: null,
    offsets: new Map(),
    pendingWrites: new Map(),
    nextWriteToken: 1,
    recordedMetadata: null,
    isLogged: false,
    deleting: false,
    unloadedErrorCode: null,
  }
}

/** True when the state of this group says nothing that `newGroup` would not say: the caller may drop it. */
export function isForgettable(state: GroupState): boolean {
  return state.phase === 'Dead' && state.pendingWrites.size === 0
}
