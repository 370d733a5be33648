import { type DeleteRecordsRequest, deleteRecords, kafkaErrors } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { nearestSafeInteger } from '../int64.ts'
import { missErrorCode } from '../partition-access.ts'

/*
 * DeleteRecords 0-2 (kafka-compat 2.9): moves the start of the log up, which is the trim of a stream; -1 to the high watermark. Below
 * the start it changes nothing. It may cut inside a batch: a fetch from there has the whole batch, and clients skip what is before.
 * A topic that is only compacted refuses (POLICY_VIOLATION), since there the last record of a key is a promise.
 * Left out: the timeout, since a trim is one transaction.
 */

type Wanted = DeleteRecordsRequest['topics'][number]['partitions'][number]

export function deleteRecordsHandler({ streams, explain }: Dependencies): Handler {
  return handler({
    api: deleteRecords,
    versions: [0, 2],
    async handle(request) {
      const topics = request.topics.map(async ({ name, partitions }) => ({
        name,
        partitions: await Promise.all(partitions.map((wanted) => deleteUpTo(name, wanted))),
      }))
      return { throttleTimeMs: 0, topics: await Promise.all(topics) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      topics: request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => refused(partitionIndex, errorCode)),
      })),
    }),
  })

  async function deleteUpTo(name: string, { partitionIndex, offset }: Wanted) {
    try {
      const partition = await streams.partition({ name }, partitionIndex)
      if (typeof partition === 'string') return refused(partitionIndex, missErrorCode[partition])
      const { compacted, retained } = partition.config
      if (compacted && !retained) return refused(partitionIndex, kafkaErrors.policyViolation.code)
      const start = await partition.trim(nearestSafeInteger(offset))
      if (start === 'out-of-range') return refused(partitionIndex, kafkaErrors.offsetOutOfRange.code)
      return { partitionIndex, lowWatermark: BigInt(start), errorCode: 0 }
    } catch (error) {
      return refused(partitionIndex, explain(error, 'manage'))
    }
  }
}

function refused(partitionIndex: number, errorCode: number) {
  return { partitionIndex, lowWatermark: -1n, errorCode }
}
