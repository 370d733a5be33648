/**
 * What can happen to a group. A request carries `requestToken`, an opaque number of the caller's, unique among the
 * requests that the group has not answered; every request gets exactly one reply with the same token.
 *
 * What depends on an API's version is a field here, named for the behaviour: the handler knows the versions.
 * Bytes in an event are borrowed until `step` returns; what the group keeps it copies.
 */
export type GroupEvent =
  | GroupRequest
  | TickEvent
  | TopicsDeletedEvent
  | WriteCompletedEvent
  | WriteFailedEvent
  | UnloadEvent

export type GroupRequest =
  | JoinEvent
  | SyncEvent
  | HeartbeatEvent
  | LeaveEvent
  | OffsetCommitEvent
  | OffsetFetchEvent
  | DeleteGroupEvent
  | DeleteOffsetsEvent

export interface Protocol {
  readonly name: string
  /** Opaque to the coordinator, except for the topics of a consumer's subscription (KIP-211, KIP-496). */
  readonly metadata: Uint8Array
}

export interface JoinEvent {
  readonly kind: 'join'
  readonly requestToken: number
  /** '' from a client that has none yet. */
  readonly memberId: string
  /** Static membership (KIP-345). */
  readonly groupInstanceId: string | null
  /** A fresh UUID, used if this join needs a member id: randomness is an argument. */
  readonly freshUuid: string
  readonly clientId: string
  /** As DescribeGroups shows it: '/' and the address. */
  readonly clientHost: string
  readonly sessionTimeoutMs: number
  /** Negative where the request has none (v0): the session timeout counts (KIP-62; KAFKA-8679). */
  readonly rebalanceTimeoutMs: number
  readonly protocolType: string
  /** In order of preference. */
  readonly protocols: readonly Protocol[]
  /** v4+: a dynamic member without an id is told one and must join again with it (KIP-394). */
  readonly requireKnownMemberId: boolean
  /** v9+: a static leader that comes back to a stable group is told to leave the assignment alone (KIP-814). */
  readonly supportsSkippingAssignment: boolean
}

export interface SyncEvent {
  readonly kind: 'sync'
  readonly requestToken: number
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly generationId: number
  /** v5+ (KIP-559); null before. */
  readonly protocolType: string | null
  readonly protocolName: string | null
  /** The leader's; ignored from anybody else. */
  readonly assignments: readonly { readonly memberId: string; readonly assignment: Uint8Array }[]
}

export interface HeartbeatEvent {
  readonly kind: 'heartbeat'
  readonly requestToken: number
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly generationId: number
}

export interface LeaveEvent {
  readonly kind: 'leave'
  readonly requestToken: number
  /** One before v3, any number since (KIP-345). A static member may be named by its instance id alone, memberId ''. */
  readonly members: readonly { readonly memberId: string; readonly groupInstanceId: string | null }[]
}

export interface OffsetCommitEvent {
  readonly kind: 'offsetCommit'
  readonly requestToken: number
  readonly memberId: string
  readonly groupInstanceId: string | null
  /** Negative from a client that does not use group management. */
  readonly generationId: number
  /** v2-4, null where absent or -1: how long these offsets live, whatever the broker's retention. */
  readonly retentionTimeMs: number | null
  /** The code for a generation in a group that does not exist: v9+ GROUP_ID_NOT_FOUND, before ILLEGAL_GENERATION. */
  readonly unknownGroupErrorCode: 69 | 22
  /** Only topics and partitions that exist: the caller has answered the others itself. */
  readonly topics: readonly {
    readonly topic: string
    readonly partitions: readonly {
      readonly partition: number
      readonly offset: number
      /** -1 = none. */
      readonly leaderEpoch: number
      readonly metadata: string | null
    }[]
  }[]
}

export interface OffsetFetchEvent {
  readonly kind: 'offsetFetch'
  readonly requestToken: number
  /** null = every partition with a committed offset. */
  readonly topics: readonly TopicPartitions[] | null
}

export interface DeleteGroupEvent {
  readonly kind: 'deleteGroup'
  readonly requestToken: number
}

export interface DeleteOffsetsEvent {
  readonly kind: 'deleteOffsets'
  readonly requestToken: number
  readonly topics: readonly TopicPartitions[]
}

export interface TopicPartitions {
  readonly topic: string
  readonly partitions: readonly number[]
}

/** Time has passed: fires everything that is due. */
export interface TickEvent {
  readonly kind: 'tick'
}

/** These topics are gone: so are the offsets committed for them. */
export interface TopicsDeletedEvent {
  readonly kind: 'topicsDeleted'
  readonly topics: readonly string[]
}

/** The records of this write, and of every earlier one that did not fail, are durable. */
export interface WriteCompletedEvent {
  readonly kind: 'writeCompleted'
  readonly writeToken: number
}

/**
 * The records of this write are not in the log and never will be. Where that is not known, drop the group's state
 * and replay the log instead. `errorCode` is what the client is told; Kafka: 16 fenced, 15 the store is out of reach.
 */
export interface WriteFailedEvent {
  readonly kind: 'writeFailed'
  readonly writeToken: number
  readonly errorCode: number
}

/** This coordinator no longer owns the group (NOT_COORDINATOR) or shuts down (COORDINATOR_NOT_AVAILABLE). */
export interface UnloadEvent {
  readonly kind: 'unload'
  readonly errorCode: number
}
