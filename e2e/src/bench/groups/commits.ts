import assert from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { offsetCommit, offsetFetch } from '@pico/kafka-codec'
import type { RawConnection } from '../../raw-kafka.ts'
import { endOffset } from '../../raw-topics.ts'
import { Meter, type Metered } from '../meter.ts'
import { whenCoordinated } from './coordinated.ts'
import type { CommitLoad } from './load.ts'
import { connectAll, formGroup, Member, mustBeFine } from './member.ts'

/** Rejects when a commit is refused, or when the last one of a member that was answered is not what the broker then tells. */
export async function commits(load: CommitLoad): Promise<Metered> {
  const { port, prefix, groups, topics } = load
  await whenCoordinated(port, `${prefix}-0`)
  const members = topics.map((topic, index) => new Member(`${prefix}-${index % groups}`, topic))
  const connections = await connectAll(port, topics.length)
  const byGroup = Map.groupBy(members.entries(), ([, { groupId }]) => groupId)
  await Promise.all(
    [...byGroup.values()].map((of) =>
      formGroup(
        of.map(([, member]) => member),
        of.map(([index]) => connections[index]!),
      ),
    ),
  )

  // A member has read of a topic what it commits: its broker has had the topic open.
  for (const topic of topics) await endOffset(port, topic)
  const meter = new Meter(load.serverPid)
  let isOver = false
  const committing = members.map((member, index) =>
    commitRepeatedly(member, connections[index]!, { meter, isOver: () => isOver }),
  )
  await Promise.race([sleep(load.warmupMs), ...committing])
  meter.begin()
  await Promise.race([sleep(load.measuredMs), ...committing])
  const metered = meter.end()
  isOver = true
  const last = await Promise.all(committing)
  for (const [index, member] of members.entries()) {
    const found = await committedOffset(member, connections[index]!)
    assert(
      found === last[index],
      `${member.groupId} committed ${last[index]} for ${member.topic}, and is told ${found}`,
    )
  }
  return metered
}

/** Resolves to the last offset that was committed. */
async function commitRepeatedly(
  member: Member,
  connection: RawConnection,
  { meter, isOver }: { readonly meter: Meter; readonly isOver: () => boolean },
): Promise<bigint> {
  const { groupId, memberId, generationId, topic: name } = member
  let offset = 0n
  while (!isOver()) {
    offset += 1n
    const partition = { partitionIndex: 0, committedOffset: offset, committedLeaderEpoch: 0, committedMetadata: '' }
    const sentAt = performance.now()
    const answer = await connection.ask(offsetCommit, 9, {
      groupId,
      generationIdOrMemberEpoch: generationId,
      memberId,
      groupInstanceId: null,
      retentionTimeMs: -1n,
      topics: [{ name, topicId: zeroUuid, partitions: [partition] }],
    })
    meter.note(sentAt)
    mustBeFine('OffsetCommit', answer.topics[0]?.partitions[0]?.errorCode ?? -1)
  }
  return offset
}

async function committedOffset({ groupId, topic }: Member, connection: RawConnection): Promise<bigint | undefined> {
  const answer = await connection.ask(offsetFetch, 7, {
    groupId,
    topics: [{ name: topic, partitionIndexes: [0] }],
    groups: [],
    requireStable: false,
  })
  mustBeFine('OffsetFetch', answer.errorCode)
  return answer.topics[0]?.partitions[0]?.committedOffset
}
