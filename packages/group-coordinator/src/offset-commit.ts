/**
 * OffsetCommit: who may, and what is written. Answered when the records are durable. The rules of acceptance are those
 * of Kafka 4's classic groups. An offset's value is not judged: it may lie behind, beyond the log, or be negative.
 */
import { armSession } from './deadlines.ts'
import { groupErrorCodes } from './error-codes.ts'
import type { OffsetCommitEvent } from './events.ts'
import { changedMetadata } from './group-metadata.ts'
import type { GroupState } from './group-state.ts'
import { memberErrorCode } from './membership.ts'
import type { OffsetCommitRecord } from './records.ts'
import type { OffsetCommitResponse, Reply } from './replies.ts'
import { issueWrite, type Transition } from './transition.ts'

export function offsetCommit(t: Transition, event: OffsetCommitEvent): void {
  const { group, nowMs } = t
  const errorCode = refusalOf(group, event)
  if (errorCode !== groupErrorCodes.none) {
    t.replies.push(
      replyTo(
        event,
        commitResponse(event, () => errorCode),
      ),
    )
    return
  }
  // Who commits is alive: a consumer may be too busy with it to heartbeat.
  const member = group.members.get(event.memberId)
  if (member !== undefined) armSession(group, member, nowMs)

  const reply = replyTo(
    event,
    commitResponse(event, (metadata) => metadataErrorCode(group, metadata)),
  )
  const records = recordsOf(group, event, nowMs)
  if (records.length === 0) t.replies.push(reply)
  else issueWrite(t, [...changedMetadata(group), ...records], reply)
}

function refusalOf(group: GroupState, event: OffsetCommitEvent): number {
  const { memberId, groupInstanceId, generationId } = event
  if (group.deleting) return groupErrorCodes.coordinatorNotAvailable
  // Not group management: an admin client, or a consumer that assigns itself. A group without members lets it pass.
  if (generationId < 0 && (group.phase === 'Dead' || group.phase === 'Empty')) return groupErrorCodes.none
  if (group.phase === 'Dead') return event.unknownGroupErrorCode
  if (generationId < 0 && memberId === '' && groupInstanceId === null) return groupErrorCodes.unknownMemberId
  const memberError = memberErrorCode(group, memberId, groupInstanceId)
  if (memberError !== groupErrorCodes.none) return memberError
  if (generationId !== group.generationId) return groupErrorCodes.illegalGeneration
  // Preparing is fine: members commit what they hold before they join again. Completing: what they held is given away.
  return group.phase === 'CompletingRebalance' ? groupErrorCodes.rebalanceInProgress : groupErrorCodes.none
}

function metadataErrorCode(group: GroupState, metadata: string | null): number {
  const isTooLarge = metadata !== null && metadata.length > group.settings.offsetMetadataMaxBytes
  return isTooLarge ? groupErrorCodes.offsetMetadataTooLarge : groupErrorCodes.none
}

function recordsOf(group: GroupState, event: OffsetCommitEvent, nowMs: number): OffsetCommitRecord[] {
  const expireTimestampMs = event.retentionTimeMs === null ? null : nowMs + event.retentionTimeMs
  const records: OffsetCommitRecord[] = []
  for (const { topic, partitions } of event.topics) {
    for (const { partition, offset, leaderEpoch, metadata } of partitions) {
      if (metadataErrorCode(group, metadata) !== groupErrorCodes.none) continue
      records.push({
        kind: 'offsetCommit',
        groupId: group.groupId,
        topic,
        partition,
        offset,
        leaderEpoch,
        metadata: metadata ?? '',
        commitTimestampMs: nowMs,
        expireTimestampMs,
      })
    }
  }
  return records
}

/** Every partition of the request with its code. */
export function commitResponse(
  event: OffsetCommitEvent,
  errorCodeOf: (metadata: string | null) => number,
): OffsetCommitResponse {
  const topics = event.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition, metadata }) => ({ partition, errorCode: errorCodeOf(metadata) })),
  }))
  return { topics }
}

function replyTo(event: OffsetCommitEvent, response: OffsetCommitResponse): Reply {
  return { requestToken: event.requestToken, kind: 'offsetCommit', response }
}
