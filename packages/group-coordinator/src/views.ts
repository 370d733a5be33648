/** ListGroups and DescribeGroups: pictures of a group, which change nothing and need no time. */
import type { GroupPhase, GroupState } from './group-state.ts'
import { metadataFor } from './member.ts'

export interface ListedGroup {
  readonly groupId: string
  /** '' for a simple group. */
  readonly protocolType: string
  readonly groupState: GroupPhase
  readonly groupType: 'classic'
}

/** null for a group that does not exist. */
export function listGroup(state: GroupState): ListedGroup | null {
  if (state.phase === 'Dead') return null
  const { groupId, protocolType, phase } = state
  return { groupId, protocolType: protocolType ?? '', groupState: phase, groupType: 'classic' }
}

/** The filters of ListGroups v4 (states) and v5 (types): case does not matter, an empty list lets everything pass. */
export function isListed(group: ListedGroup, statesFilter: readonly string[], typesFilter: readonly string[]): boolean {
  return passes(statesFilter, group.groupState) && passes(typesFilter, group.groupType)
}

export interface DescribedGroup {
  /** Dead = there is no such group: GROUP_ID_NOT_FOUND from v6 on, no error before. */
  readonly groupState: GroupPhase
  readonly protocolType: string
  /** The protocol's name while Stable, else ''. */
  readonly protocolData: string
  readonly members: readonly DescribedMember[]
}

export interface DescribedMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  /** Empty unless the group is Stable. */
  readonly memberMetadata: Uint8Array
  /** What it was given last, also while the group is rebalancing, as Kafka 4.4 shows it. */
  readonly memberAssignment: Uint8Array
}

export function describeGroup(state: GroupState): DescribedGroup {
  const isStable = state.phase === 'Stable'
  return {
    groupState: state.phase,
    protocolType: state.protocolType ?? '',
    protocolData: isStable ? (state.protocolName ?? '') : '',
    members: [...state.members.values()].map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      memberMetadata: isStable ? metadataFor(member, state.protocolName) : noBytes,
      memberAssignment: member.assignment,
    })),
  }
}

const noBytes = new Uint8Array(0)

function passes(filter: readonly string[], value: string): boolean {
  return filter.length === 0 || filter.some((wanted) => wanted.toLowerCase() === value.toLowerCase())
}
