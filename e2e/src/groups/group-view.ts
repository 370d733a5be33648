import { consumerProtocolAssignment, decodeVersioned, describeGroups, listGroups, offsetFetch } from '@pico/kafka-codec'
import { connectRaw, type RawConnection } from '../raw-kafka.ts'
import { mustBeFine } from '../raw-topics.ts'

export interface GroupView {
  /** `Stable`, `Empty`, `Dead`, … */
  readonly state: string
  /** What each member was given: a topic as often as it has partitions of it, sorted. */
  readonly assignments: readonly (readonly string[])[]
  /** The same as `topic-partition`, sorted. */
  readonly partitions: readonly (readonly string[])[]
}

/** What a broker tells a stranger about a group of consumers. */
export async function viewOf(port: number, groupId: string): Promise<GroupView> {
  return onConnection(port, async (connection) => {
    const { groups } = await connection.ask(describeGroups, 5, {
      groups: [groupId],
      includeAuthorizedOperations: false,
    })
    const group = groups[0]
    if (group === undefined) throw new Error(`DescribeGroups says nothing of ${groupId}`)
    mustBeFine(`describing ${groupId}`, group.errorCode)
    const given = group.members.map(({ memberAssignment }) => partitionsIn(memberAssignment))
    return {
      state: group.groupState,
      assignments: given.map((each) => each.map(({ topic }) => topic).sort()),
      partitions: given.map((each) => each.map(({ topic, partition }) => `${topic}-${partition}`).sort()),
    }
  })
}

/** Committed offsets by topic, or by topic and partition where more than partition 0 is asked for; -1 where there is none. */
export async function committedOffsets(
  at: Whereabouts,
  groupId: string,
  topics: readonly string[],
  partitionIndexes: readonly number[] = [0],
): Promise<Map<string, number>> {
  return onConnection(at, async (connection) => {
    const answer = await connection.ask(offsetFetch, 7, {
      groupId,
      topics: topics.map((name) => ({ name, partitionIndexes })),
      groups: [],
      requireStable: true,
    })
    mustBeFine(`offsets of ${groupId}`, answer.errorCode)
    return new Map(
      answer.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, errorCode, committedOffset }): [string, number] => {
          mustBeFine(`offset of ${name}-${partitionIndex}`, errorCode)
          return [partitionIndexes.length === 1 ? name : `${name}-${partitionIndex}`, Number(committedOffset)]
        }),
      ),
    )
  })
}

export async function groupIds(port: number): Promise<string[]> {
  return onConnection(port, async (connection) => {
    const { errorCode, groups } = await connection.ask(listGroups, 4, { statesFilter: [], typesFilter: [] })
    mustBeFine('listing groups', errorCode)
    return groups.map(({ groupId }) => groupId)
  })
}

function partitionsIn(assignment: Uint8Array): { topic: string; partition: number }[] {
  if (assignment.length === 0) return []
  const { value } = decodeVersioned(consumerProtocolAssignment, assignment, { newerAsLast: true })
  return value.assignedPartitions.flatMap(({ topic, partitions }) =>
    partitions.map((partition) => ({ topic, partition })),
  )
}

/** The port of a broker, or the way to the one that coordinates the group. */
export type Whereabouts = number | (() => Promise<RawConnection>)

async function onConnection<T>(at: Whereabouts, work: (connection: RawConnection) => Promise<T>): Promise<T> {
  const connection = await (typeof at === 'number' ? connectRaw(at) : at())
  try {
    return await work(connection)
  } finally {
    connection.close()
  }
}
