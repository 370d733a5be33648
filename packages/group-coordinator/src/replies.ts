/** Answers, protocol-neutral but in Kafka's words. Bytes in an answer belong to the group: read only, never changed later. */
export type Reply =
  | { readonly requestToken: number; readonly kind: 'join'; readonly response: JoinResponse }
  | { readonly requestToken: number; readonly kind: 'sync'; readonly response: SyncResponse }
  | { readonly requestToken: number; readonly kind: 'heartbeat'; readonly response: HeartbeatResponse }
  | { readonly requestToken: number; readonly kind: 'leave'; readonly response: LeaveResponse }
  | { readonly requestToken: number; readonly kind: 'offsetCommit'; readonly response: OffsetCommitResponse }
  | { readonly requestToken: number; readonly kind: 'offsetFetch'; readonly response: OffsetFetchResponse }
  | { readonly requestToken: number; readonly kind: 'deleteGroup'; readonly response: DeleteGroupResponse }
  | { readonly requestToken: number; readonly kind: 'deleteOffsets'; readonly response: DeleteOffsetsResponse }

export interface JoinResponse {
  readonly errorCode: number
  /** With MEMBER_ID_REQUIRED the id to join again with. */
  readonly memberId: string
  /** -1 on an error. */
  readonly generationId: number
  /** null on an error; a response before v7 has '' for the name instead. */
  readonly protocolType: string | null
  readonly protocolName: string | null
  /** Member id of the leader; '' on an error. */
  readonly leader: string
  readonly skipAssignment: boolean
  /** Everybody, for the leader; empty for the others. */
  readonly members: readonly JoinedMember[]
}

export interface JoinedMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  /** Of the chosen protocol. */
  readonly metadata: Uint8Array
}

export interface SyncResponse {
  readonly errorCode: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly assignment: Uint8Array
}

export interface HeartbeatResponse {
  readonly errorCode: number
}

export interface LeaveResponse {
  /** About the group; each member has its own. Before v3 the first member's code goes to the top. */
  readonly errorCode: number
  readonly members: readonly {
    readonly memberId: string
    readonly groupInstanceId: string | null
    readonly errorCode: number
  }[]
}

export interface OffsetCommitResponse {
  readonly topics: readonly TopicErrors[]
}

export interface TopicErrors {
  readonly topic: string
  readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[]
}

export interface OffsetFetchResponse {
  /** 0, or why this group cannot be asked here and now. */
  readonly errorCode: number
  readonly topics: readonly FetchedTopic[]
}

export interface FetchedTopic {
  readonly topic: string
  readonly partitions: readonly {
    readonly partition: number
    /** -1 = nothing is committed, which is no error. */
    readonly offset: number
    readonly leaderEpoch: number
    readonly metadata: string
  }[]
}

export interface DeleteGroupResponse {
  readonly errorCode: number
}

export interface DeleteOffsetsResponse {
  /** When it is not 0, nothing was deleted and `topics` is empty. */
  readonly errorCode: number
  readonly topics: readonly TopicErrors[]
}
