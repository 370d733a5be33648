import { zeroUuid } from '@pico/binary'
import { kafkaErrors, type OffsetCommitRequest, offsetCommit, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { submittedInTurn } from '../groups/answered-in-turn.ts'
import type { GroupCall } from '../groups/group-host.ts'
import { type KnownTopics, knownTopics } from '../groups/known-topics.ts'
import { type Handler, handler } from '../handler.ts'
import { nearestSafeInteger } from '../int64.ts'

/*
 * OffsetCommit 2-9 (kafka-compat 2.8): answered when the offsets are durable. Commits of one connection reach the group in the order
 * they came. A topic or partition that does not exist has its own error, and the others are committed.
 * v2-4: a retention of its own. v6: leader epochs (KIP-320). v7: static members. v9: GROUP_ID_NOT_FOUND.
 * An offset that no log of ours can have, beyond 2^53, is OFFSET_OUT_OF_RANGE: Kafka takes it.
 * Left out: 0 and 1, of ZooKeeper's time; 10, which names topics by id only, and which tools that think in names cannot read.
 */

const firstWithGroupIdNotFound = 9

type RequestedPartition = OffsetCommitRequest['topics'][number]['partitions'][number]
type CommittedTopic = GroupCall<'offsetCommit'>['topics'][number]

export function offsetCommitHandler({ groups, streams, explain }: Dependencies): Handler {
  return handler({
    api: offsetCommit,
    versions: [2, 9],
    handle: (request, { apiVersion }) =>
      submittedInTurn(submit(request, apiVersion).catch((error: unknown) => failed(request, error))),
    fail: (request, errorCode) => respond(request, () => errorCode),
  })

  function failed(request: OffsetCommitRequest, error: unknown) {
    const errorCode = explain(error, 'coordinate')
    return { answer: respond(request, () => errorCode) }
  }

  async function submit(request: OffsetCommitRequest, apiVersion: number) {
    const known = await knownTopics(
      streams,
      request.topics.map(({ name }) => name),
    )
    const topics = committable(request, known)
    if (topics.length === 0)
      return { answer: respond(request, (topic, partition) => refusalOf(topic, partition, known)) }
    const answer = groups.commit(request.groupId, callOf(request, topics, apiVersion), known.topicIds)
    return {
      answer: answer.then((response) => {
        // The answers are in the order of what was committed, and that is in the order of the request.
        const errorCodes = response.topics.flatMap(({ partitions }) => partitions)[Symbol.iterator]()
        return respond(
          request,
          (topic, partition) => refusalOf(topic, partition, known) || errorCodes.next().value!.errorCode,
        )
      }),
    }
  }
}

function callOf(
  request: OffsetCommitRequest,
  topics: readonly CommittedTopic[],
  apiVersion: number,
): GroupCall<'offsetCommit'> {
  const { memberId, groupInstanceId, generationIdOrMemberEpoch, retentionTimeMs } = request
  return {
    kind: 'offsetCommit',
    memberId,
    groupInstanceId,
    generationId: generationIdOrMemberEpoch,
    retentionTimeMs: retentionTimeMs === -1n ? null : Math.min(nearestSafeInteger(retentionTimeMs), longestRetentionMs),
    unknownGroupErrorCode:
      apiVersion >= firstWithGroupIdNotFound ? kafkaErrors.groupIdNotFound.code : kafkaErrors.illegalGeneration.code,
    topics,
  }
}

/** So far in the future that it makes no difference, and that the time it gives is still a safe integer. */
const longestRetentionMs = 2 ** 52

function committable(request: OffsetCommitRequest, known: KnownTopics): CommittedTopic[] {
  return request.topics.flatMap(({ name, partitions }) => {
    const good = partitions.filter((partition) => refusalOf(name, partition, known) === 0)
    return good.length === 0 ? [] : [{ topic: name, partitions: good.map(committedPartition) }]
  })
}

function committedPartition(requested: RequestedPartition): CommittedTopic['partitions'][number] {
  return {
    partition: requested.partitionIndex,
    offset: Number(requested.committedOffset),
    leaderEpoch: requested.committedLeaderEpoch,
    metadata: requested.committedMetadata,
  }
}

/** Why a partition does not even reach the group, or 0. */
function refusalOf(topic: string, { partitionIndex, committedOffset }: RequestedPartition, known: KnownTopics): number {
  if (!known.has(topic, partitionIndex)) return kafkaErrors.unknownTopicOrPartition.code
  const isSafe = BigInt(nearestSafeInteger(committedOffset)) === committedOffset
  return isSafe ? 0 : kafkaErrors.offsetOutOfRange.code
}

function respond(
  { topics }: OffsetCommitRequest,
  errorCodeOf: (topic: string, partition: RequestedPartition) => number,
): ResponseInput<typeof offsetCommit> {
  return {
    throttleTimeMs: 0,
    topics: topics.map(({ name, partitions }) => ({
      name,
      topicId: zeroUuid,
      partitions: partitions.map((partition) => ({
        partitionIndex: partition.partitionIndex,
        errorCode: errorCodeOf(name, partition),
      })),
    })),
  }
}
