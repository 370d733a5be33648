import type { GroupPhase } from '@pico/group-coordinator'
import { CodecError, consumerProtocolAssignment, decodeVersioned, kafkaErrorOf, kafkaErrors } from '@pico/kafka-codec'
import type { GroupHost } from './group-host.ts'
import type { GroupPicture } from './served-group.ts'

/** Groups for the eyes of an operator: looking changes nothing, and keeps no group in memory. */
export interface GroupReader {
  /** In byte order of the names of their streams. `next`: what to give as `after` to go on, null at the end. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<GroupList>
  /** Null when there is no such group. */
  describe(groupId: string): Promise<GroupDescription | GroupRefused | null>
}

export interface GroupList {
  readonly groups: readonly GroupSummary[]
  readonly next: string | null
}

export interface GroupSummary {
  readonly groupId: string
  /** Null where the coordinator cannot say now: `refused` has its reason. */
  readonly state: GroupPhase | null
  readonly protocolType: string
  readonly refused: string | null
}

/** The coordinator cannot say: it is another node, or it is loading, or its log cannot be read now. */
export interface GroupRefused {
  /** Kafka's name of the error. */
  readonly refused: string
}

export interface GroupDescription {
  readonly refused?: never
  readonly groupId: string
  readonly state: GroupPhase
  readonly protocolType: string
  /** The assignor of a stable consumer group, else ''. */
  readonly protocolName: string
  readonly generationId: number
  readonly members: readonly GroupMember[]
  readonly offsets: readonly CommittedGroupOffset[]
}

export interface GroupMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  /** What a consumer was given last; null for members that speak another protocol. */
  readonly assignment: readonly { readonly topic: string; readonly partitions: readonly number[] }[] | null
}

export interface CommittedGroupOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
}

export function groupReader(host: Pick<GroupHost, 'page' | 'picture'>): GroupReader {
  return {
    async list({ after, limit }) {
      const page = await host.page({ after, limit })
      const groups = page.flatMap(({ groupId, listed }): GroupSummary[] => {
        if (!('picture' in listed))
          return [{ groupId, state: null, protocolType: '', refused: errorName(listed.errorCode) }]
        if (listed.picture === null) return []
        const { groupState: state, protocolType } = listed.picture
        return [{ groupId, state, protocolType, refused: null }]
      })
      return { groups, next: page.length < limit ? null : (page.at(-1)?.groupId ?? null) }
    },

    async describe(groupId) {
      const found = await host.picture(groupId)
      if (!('picture' in found)) {
        const canBeNone = found.errorCode === kafkaErrors.invalidGroupId.code
        return canBeNone ? null : { refused: errorName(found.errorCode) }
      }
      return found.picture.groupState === 'Dead' ? null : descriptionOf(groupId, found.picture)
    },
  }
}

function descriptionOf(groupId: string, picture: GroupPicture): GroupDescription {
  const { groupState: state, protocolType, protocolData: protocolName, generationId } = picture
  const members = picture.members.map(({ memberId, groupInstanceId, clientId, clientHost, memberAssignment }) => {
    return { memberId, groupInstanceId, clientId, clientHost, assignment: assignmentOf(protocolType, memberAssignment) }
  })
  const offsets = picture.offsets.flatMap(({ topic, partitions }) => partitions.map((one) => ({ topic, ...one })))
  return { groupId, state, protocolType, protocolName, generationId, members, offsets }
}

/** A broker does not understand assignments: what does not read as one is the members' affair. */
function assignmentOf(protocolType: string, bytes: Uint8Array): GroupMember['assignment'] {
  if (protocolType !== 'consumer') return null
  if (bytes.length === 0) return []
  try {
    return decodeVersioned(consumerProtocolAssignment, bytes, { newerAsLast: true }).value.assignedPartitions
  } catch (error) {
    if (error instanceof CodecError) return null
    throw error
  }
}

function errorName(errorCode: number): string {
  return kafkaErrorOf(errorCode)?.name ?? 'UNKNOWN_SERVER_ERROR'
}
