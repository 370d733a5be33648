import { zeroUuid } from '@pico/binary'
import {
  type DescribeTopicPartitionsRequest,
  describeTopicPartitions,
  kafkaErrors,
  type ResponseInput,
} from '@pico/kafka-codec'
import { type TopicDescription, topicNameProblem } from '@pico/streams'
import { allTopicOperations } from '../authorized-operations.ts'
import { partitionsPerAnswerMax } from '../configs/broker-configs.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { partitionState } from '../partition-state.ts'

/*
 * DescribeTopicPartitions 0 (KIP-966): topics in name order, so many partitions at a time; the cursor says where the next page begins.
 * No topic named means all of them. A cursor at a topic that is not among those named, or before partition 0, is INVALID_REQUEST.
 * Left out: replicas that may lead although they are not in sync; there are none.
 */

type TopicAnswer = ResponseInput<typeof describeTopicPartitions>['topics'][number]
type Cursor = NonNullable<DescribeTopicPartitionsRequest['cursor']>

interface Named {
  readonly name: string
  readonly topic: TopicDescription | undefined
}

/** Topics looked up at a time. */
const lookedUpTogether = 100

export function describeTopicPartitionsHandler({ streams, cluster }: Dependencies): Handler {
  return handler({
    api: describeTopicPartitions,
    versions: [0, 0],
    largeAnswer: true,
    async handle({ topics, cursor, responsePartitionLimit }) {
      const lost = cursor !== null && topics.length > 0 && !topics.some(({ name }) => name === cursor.topicName)
      if (lost || (cursor?.partitionIndex ?? 0) < 0) return failed(topics, kafkaErrors.invalidRequest.code)
      const wanted = topics.length === 0 ? everyTopic(cursor) : namedTopics(topics, cursor)
      const room = Math.max(1, Math.min(responsePartitionLimit, partitionsPerAnswerMax))
      return { throttleTimeMs: 0, ...(await page(wanted, cursor, room)) }
    },
    fail: ({ topics }, errorCode) => failed(topics, errorCode),
  })

  async function page(wanted: AsyncIterable<Named>, cursor: Cursor | null, roomAtFirst: number) {
    const topics: TopicAnswer[] = []
    let room = roomAtFirst
    for await (const { name, topic } of wanted) {
      if (room === 0) return { topics, nextCursor: { topicName: name, partitionIndex: 0 } }
      if (topic === undefined) {
        topics.push({ ...refused(name, unknownErrorCode(name)), topicAuthorizedOperations: allTopicOperations })
        continue
      }
      const from = cursor?.topicName === name ? cursor.partitionIndex : 0
      const partitions = topic.partitions.slice(from, from + room)
      room -= partitions.length
      topics.push(answer(topic, partitions))
      const partitionIndex = from + partitions.length
      if (partitionIndex < topic.partitions.length) return { topics, nextCursor: { topicName: name, partitionIndex } }
    }
    return { topics, nextCursor: null }
  }

  async function* everyTopic(cursor: Cursor | null): AsyncGenerator<Named> {
    const name = cursor?.topicName
    if (name !== undefined) {
      const [topic] = await streams.describeTopics([{ name }])
      if (topic !== undefined) yield { name, topic }
    }
    for await (const topic of streams.listTopics(name ?? null)) yield { name: topic.name, topic }
  }

  async function* namedTopics(
    asked: readonly { readonly name: string }[],
    cursor: Cursor | null,
  ): AsyncGenerator<Named> {
    const names = [...new Set(asked.map(({ name }) => name))].filter((name) => name >= (cursor?.topicName ?? '')).sort()
    for (let at = 0; at < names.length; at += lookedUpTogether) {
      const some = names.slice(at, at + lookedUpTogether)
      const found = await streams.describeTopics(some.map((name) => ({ name })))
      for (const [index, name] of some.entries()) yield { name, topic: found[index] }
    }
  }

  function answer(topic: TopicDescription, partitions: TopicDescription['partitions']): TopicAnswer {
    const brokers = cluster.brokers()
    return {
      errorCode: 0,
      name: topic.name,
      topicId: topic.topicId,
      isInternal: false,
      partitions: partitions.map((partition) => ({
        ...partitionState(partition, brokers),
        eligibleLeaderReplicas: [],
        lastKnownElr: [],
      })),
      topicAuthorizedOperations: allTopicOperations,
    }
  }
}

function unknownErrorCode(name: string): number {
  const problem = topicNameProblem(name)
  return problem === null ? kafkaErrors.unknownTopicOrPartition.code : kafkaErrors.invalidTopicException.code
}

function failed(topics: readonly { readonly name: string }[], errorCode: number) {
  return { throttleTimeMs: 0, topics: topics.map(({ name }) => refused(name, errorCode)) }
}

function refused(name: string, errorCode: number): TopicAnswer {
  return { errorCode, name, topicId: zeroUuid, isInternal: false, partitions: [] }
}
