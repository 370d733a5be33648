import { zeroUuid } from '@pico/binary'
import type { FetchedTopic, OffsetFetchResponse } from '@pico/group-coordinator'
import { kafkaErrors, type OffsetFetchRequest, offsetFetch, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * OffsetFetch 1-9 (kafka-compat 2.8): what was never committed is offset -1, and no error, whatever does not exist. v2: null for every
 * topic, and an error of the group. v5: leader epochs. v7's require_stable asks for what is always done: the answer waits for the
 * commits before it. v8: many groups (KIP-709). v9's member and epoch are of the consumer protocol and not looked at.
 * Left out: 0, which read from ZooKeeper; 10, which names topics by id only.
 */

const firstWithGroupError = 2
const firstWithManyGroups = 8

interface Asked {
  readonly groupId: string
  readonly topics: readonly { readonly name: string; readonly partitionIndexes: readonly number[] }[] | null
}

export function offsetFetchHandler({ groups }: Dependencies): Handler {
  return handler({
    api: offsetFetch,
    versions: [1, 9],
    async handle(request, { apiVersion }) {
      const asked = askedOf(request, apiVersion)
      return respond(asked, await Promise.all(asked.map(fetchOne)), apiVersion)
    },
    fail(request, errorCode, { apiVersion }) {
      const asked = askedOf(request, apiVersion)
      return respond(
        asked,
        asked.map(() => ({ errorCode, topics: [] })),
        apiVersion,
      )
    },
  })

  async function fetchOne({ groupId, topics }: Asked): Promise<OffsetFetchResponse> {
    const wanted = topics?.map(({ name, partitionIndexes }) => ({ topic: name, partitions: partitionIndexes })) ?? null
    const answer = await groups.ask(groupId, { kind: 'offsetFetch', topics: wanted })
    // Java clients before 3.9 give up on any other code here; this one sends them to look for the coordinator again.
    const isGone = answer.errorCode === kafkaErrors.coordinatorNotAvailable.code
    return isGone ? { ...answer, errorCode: kafkaErrors.notCoordinator.code } : answer
  }
}

function askedOf({ groupId, topics, groups }: OffsetFetchRequest, apiVersion: number): Asked[] {
  return apiVersion >= firstWithManyGroups ? groups : [{ groupId, topics }]
}

function respond(
  asked: readonly Asked[],
  answers: readonly OffsetFetchResponse[],
  apiVersion: number,
): ResponseInput<typeof offsetFetch> {
  const groups = asked.map(({ groupId, topics }, index) => {
    const { errorCode, topics: fetched } = answers[index]!
    const isToldByPartition = errorCode !== 0 && apiVersion < firstWithGroupError
    return { groupId, errorCode, topics: isToldByPartition ? failedTopics(topics, errorCode) : fetched.map(topicOf) }
  })
  if (apiVersion >= firstWithManyGroups) return { throttleTimeMs: 0, topics: [], groups }
  const [group] = groups
  return { throttleTimeMs: 0, errorCode: group?.errorCode ?? 0, topics: group?.topics ?? [], groups: [] }
}

function topicOf({ topic, partitions }: FetchedTopic) {
  return {
    name: topic,
    topicId: zeroUuid,
    partitions: partitions.map(({ partition, offset, leaderEpoch, metadata }) => ({
      partitionIndex: partition,
      committedOffset: BigInt(offset),
      committedLeaderEpoch: leaderEpoch,
      metadata,
      errorCode: 0,
    })),
  }
}

function failedTopics(topics: Asked['topics'], errorCode: number) {
  return (topics ?? []).map(({ name, partitionIndexes }) => ({
    name,
    topicId: zeroUuid,
    partitions: partitionIndexes.map((partitionIndex) => ({
      partitionIndex,
      committedOffset: -1n,
      committedLeaderEpoch: -1,
      metadata: '',
      errorCode,
    })),
  }))
}
