import { describeProducers } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { missErrorCode } from '../partition-access.ts'

/*
 * DescribeProducers 0 (KIP-664): the idempotent producers that a partition remembers, which are those that appended within the last
 * day. There are no transactions, so none is under way and no coordinator is known: -1.
 */

export function describeProducersHandler({ streams, explain }: Dependencies): Handler {
  return handler({
    api: describeProducers,
    versions: [0, 0],
    async handle(request) {
      const topics = request.topics.map(async ({ name, partitionIndexes }) => ({
        name,
        partitions: await Promise.all(partitionIndexes.map((index) => describeOne(name, index))),
      }))
      return { throttleTimeMs: 0, topics: await Promise.all(topics) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      topics: request.topics.map(({ name, partitionIndexes }) => ({
        name,
        partitions: partitionIndexes.map((index) => refused(index, errorCode)),
      })),
    }),
  })

  async function describeOne(name: string, partitionIndex: number) {
    try {
      const partition = await streams.partition({ name }, partitionIndex)
      if (typeof partition === 'string') return refused(partitionIndex, missErrorCode[partition])
      const activeProducers = partition.producers().map((producer) => ({
        producerId: BigInt(producer.producerId),
        producerEpoch: producer.producerEpoch,
        lastSequence: producer.lastSequence,
        lastTimestamp: BigInt(producer.lastTimestampMs),
        coordinatorEpoch: -1,
        currentTxnStartOffset: -1n,
      }))
      return { partitionIndex, errorCode: 0, errorMessage: null, activeProducers }
    } catch (error) {
      return refused(partitionIndex, explain(error, 'read'))
    }
  }
}

function refused(partitionIndex: number, errorCode: number) {
  return { partitionIndex, errorCode, errorMessage: null, activeProducers: [] }
}
