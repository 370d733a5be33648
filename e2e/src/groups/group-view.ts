import { consumerProtocolAssignment, decodeVersioned, describeGroups, listGroups, offsetFetch } from '@pico/kafka-codec'
import { connectRaw, type RawConnection } from '../raw-kafka.ts'
import { errorName } from '../raw-topics.ts'

export interface GroupView {
  /** `Stable`, `Empty`, `Dead`, … */
  readonly state: string
  /** What each member was given, sorted. */
  readonly assignments: readonly (readonly string[])[]
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
    const assignments = group.members.map(({ memberAssignment }) => topicsIn(memberAssignment))
    return { state: group.groupState, assignments }
  })
}

/** Committed offsets of partition 0, by topic; -1 where there is none. */
export async function committedOffsets(
  port: number,
  groupId: string,
  topics: readonly string[],
): Promise<Map<string, number>> {
  return onConnection(port, async (connection) => {
    const answer = await connection.ask(offsetFetch, 7, {
      groupId,
      topics: topics.map((name) => ({ name, partitionIndexes: [0] })),
      groups: [],
      requireStable: true,
    })
    mustBeFine(`offsets of ${groupId}`, answer.errorCode)
    return new Map(
      answer.topics.map(({ name, partitions }) => {
        mustBeFine(`offset of ${name}`, partitions[0]?.errorCode ?? -1)
        return [name, Number(partitions[0]?.committedOffset)]
      }),
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

function topicsIn(assignment: Uint8Array): string[] {
  if (assignment.length === 0) return []
  const { value } = decodeVersioned(consumerProtocolAssignment, assignment, { newerAsLast: true })
  return value.assignedPartitions.map(({ topic }) => topic).sort()
}

function mustBeFine(what: string, errorCode: number): void {
  if (errorCode !== 0) throw new Error(`${what}: ${errorName(errorCode)}`)
}

async function onConnection<T>(port: number, work: (connection: RawConnection) => Promise<T>): Promise<T> {
  const connection = await connectRaw(port)
  try {
    return await work(connection)
  } finally {
    connection.close()
  }
}
