import { type OffsetForLeaderEpochRequest, offsetForLeaderEpoch } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { leaderEpochError, missErrorCode } from '../partition-access.ts'

/*
 * OffsetForLeaderEpoch 2-4 (kafka-compat 2.7): where the log ended in a leader epoch, from the kept history of epochs. Nothing that was
 * readable is ever truncated, so that the answer only confirms to a consumer what it has.
 * Left out: 0-1, which only brokers ever sent.
 */

type RequestedPartition = OffsetForLeaderEpochRequest['topics'][number]['partitions'][number]

export function offsetForLeaderEpochHandler({ streams, explain }: Dependencies): Handler {
  return handler({
    api: offsetForLeaderEpoch,
    versions: [2, 4],
    async handle(request) {
      const topics = request.topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(partitions.map((wanted) => lookUp(topic, wanted))),
      }))
      return { throttleTimeMs: 0, topics: await Promise.all(topics) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      topics: request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => ({ partition, errorCode })),
      })),
    }),
  })

  async function lookUp(name: string, { partition: index, currentLeaderEpoch, leaderEpoch }: RequestedPartition) {
    try {
      const partition = await streams.partition({ name }, index)
      if (typeof partition === 'string') return { partition: index, errorCode: missErrorCode[partition] }
      const errorCode = leaderEpochError(currentLeaderEpoch, partition)
      if (errorCode !== 0) return { partition: index, errorCode }
      const end = await partition.endOfEpoch(leaderEpoch)
      return { partition: index, errorCode, leaderEpoch: end.leaderEpoch, endOffset: BigInt(end.endOffset) }
    } catch (error) {
      return { partition: index, errorCode: explain(error, 'read', { topic: name, partition: index }) }
    }
  }
}
