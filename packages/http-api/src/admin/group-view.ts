/** Consumer groups for the eyes of an operator: what GroupReader of @pico/kafka-api gives. */
export interface GroupView {
  list(page: { readonly after: string | null; readonly limit: number }): Promise<{
    readonly groups: readonly GroupLine[]
    /** What to give as `after` to go on; null at the end. */
    readonly next: string | null
  }>
  /** Null when there is no such group. */
  describe(groupId: string): Promise<GroupPicture | GroupUnknowable | null>
}

/** States as Kafka spells them. */
export type GroupStateName = 'Dead' | 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'

export interface GroupLine {
  readonly groupId: string
  /** Null where its coordinator cannot say now: `refused` has Kafka's name of the reason. */
  readonly state: GroupStateName | null
  readonly protocolType: string
  readonly refused: string | null
}

export interface GroupUnknowable {
  readonly refused: string
}

export interface GroupPicture {
  readonly refused?: never
  readonly groupId: string
  readonly state: GroupStateName
  readonly protocolType: string
  readonly protocolName: string
  readonly generationId: number
  readonly members: readonly {
    readonly memberId: string
    readonly groupInstanceId: string | null
    readonly clientId: string
    readonly clientHost: string
    readonly assignment: readonly { readonly topic: string; readonly partitions: readonly number[] }[] | null
  }[]
  readonly offsets: readonly CommittedOffset[]
}

export interface CommittedOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly metadata: string
}
