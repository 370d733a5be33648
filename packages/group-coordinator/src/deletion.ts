/** DeleteGroups, OffsetDelete (KIP-496), and what a deleted topic leaves behind. Answered when durable: gone stays gone. */
import { consumerProtocolType, isSubscribed } from './consumer-subscription.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { DeleteGroupEvent, DeleteOffsetsEvent, TopicsDeletedEvent } from './events.ts'
import { removeGroup } from './expiry.ts'
import type { GroupState } from './group-state.ts'
import type { OffsetTombstoneRecord } from './records.ts'
import type { DeleteOffsetsResponse, Reply } from './replies.ts'
import { issueWrite, type Transition } from './transition.ts'

export function deleteGroup(t: Transition, event: DeleteGroupEvent): void {
  const { group } = t
  const errorCode = isGone(group)
    ? groupErrorCodes.groupIdNotFound
    : group.phase === 'Empty'
      ? groupErrorCodes.none
      : groupErrorCodes.nonEmptyGroup
  const reply: Reply = { requestToken: event.requestToken, kind: 'deleteGroup', response: { errorCode } }
  if (errorCode === groupErrorCodes.none) removeGroup(t, reply)
  else t.replies.push(reply)
}

export function deleteOffsets(t: Transition, event: DeleteOffsetsEvent): void {
  const { group } = t
  const { requestToken } = event
  const errorCode = refusalOf(group)
  const response: DeleteOffsetsResponse =
    errorCode === groupErrorCodes.none ? allowedDeletions(group, event) : { errorCode, topics: [] }
  const tombstones = response.topics.flatMap(({ topic, partitions }) =>
    partitions
      .filter((p) => p.errorCode === groupErrorCodes.none && committedPartitions(group, topic).has(p.partition))
      .map(({ partition }) => tombstone(group, topic, partition)),
  )
  const reply: Reply = { requestToken, kind: 'deleteOffsets', response }
  if (tombstones.length === 0) t.replies.push(reply)
  else issueWrite(t, tombstones, reply)
}

export function topicsDeleted(t: Transition, event: TopicsDeletedEvent): void {
  const { group } = t
  if (group.deleting) return
  const tombstones = event.topics.flatMap((topic) =>
    [...committedPartitions(group, topic)].map((partition) => tombstone(group, topic, partition)),
  )
  if (tombstones.length > 0) issueWrite(t, tombstones, null)
}

function refusalOf(group: GroupState): number {
  if (group.groupId === '') return groupErrorCodes.invalidGroupId
  if (isGone(group)) return groupErrorCodes.groupIdNotFound
  // Whatever else its members agree on, it may rest on these offsets (Connect).
  const isOpaque = group.phase !== 'Empty' && group.protocolType !== consumerProtocolType
  return isOpaque ? groupErrorCodes.nonEmptyGroup : groupErrorCodes.none
}

function allowedDeletions(group: GroupState, event: DeleteOffsetsEvent): DeleteOffsetsResponse {
  const topics = event.topics.map(({ topic, partitions }) => {
    const errorCode = isSubscribed(group, topic) ? groupErrorCodes.groupSubscribedToTopic : groupErrorCodes.none
    return { topic, partitions: partitions.map((partition) => ({ partition, errorCode })) }
  })
  return { errorCode: groupErrorCodes.none, topics }
}

function isGone(group: GroupState): boolean {
  return group.phase === 'Dead' || group.deleting
}

/** Of this topic, those with an offset that is durable or on its way: a commit in flight must not outlive its topic. */
function committedPartitions(group: GroupState, topic: string): ReadonlySet<number> {
  const partitions = new Set(group.offsets.get(topic)?.keys())
  for (const { records } of group.pendingWrites.values()) {
    for (const record of records) {
      if (record.kind === 'offsetCommit' && record.topic === topic) partitions.add(record.partition)
    }
  }
  return partitions
}

function tombstone(group: GroupState, topic: string, partition: number): OffsetTombstoneRecord {
  return { kind: 'offsetTombstone', groupId: group.groupId, topic, partition }
}
