import { zeroUuid } from '@pico/binary'
import { listOffsets, produce } from '@pico/kafka-codec'
import { connectRaw } from '../raw-kafka.ts'
import { errorName, mustBeFine } from '../raw-topics.ts'
import { encodeBatch } from '../test-batch.ts'

/** Writes one batch of values to each partition of a topic, by its index. */
export async function writeToPartitions(
  port: number,
  topic: string,
  byPartition: readonly (readonly string[])[],
): Promise<void> {
  const connection = await connectRaw(port)
  try {
    const partitionData = byPartition.map((values, index) => {
      const records = values.map((value, offsetDelta) => ({ value: Buffer.from(value), offsetDelta }))
      return { index, records: encodeBatch({ records }) }
    })
    const { responses } = await connection.ask(produce, 9, {
      transactionalId: null,
      acks: -1,
      timeoutMs: 30_000,
      topicData: [{ name: topic, topicId: zeroUuid, partitionData }],
    })
    for (const { index, errorCode } of responses[0]?.partitionResponses ?? []) {
      if (errorCode !== 0) throw new Error(`writing to ${topic}-${index}: ${errorName(errorCode)}`)
    }
  } finally {
    connection.close()
  }
}

/** The end of each partition. */
export function partitionEnds(port: number, topic: string, partitions: number): Promise<number[]> {
  return partitionOffsets(port, topic, partitions, -1n)
}

/** The first offset of each partition that was not deleted. */
export function partitionStarts(port: number, topic: string, partitions: number): Promise<number[]> {
  return partitionOffsets(port, topic, partitions, -2n)
}

async function partitionOffsets(port: number, topic: string, partitions: number, timestamp: bigint): Promise<number[]> {
  const connection = await connectRaw(port)
  try {
    const wanted = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp }))
    const { topics } = await connection.ask(listOffsets, 5, {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name: topic, partitions: wanted }],
      timeoutMs: 0,
    })
    // Kafka answers in an order of its own.
    const answered = (topics[0]?.partitions ?? []).toSorted((a, b) => a.partitionIndex - b.partitionIndex)
    return answered.map(({ offset, errorCode, partitionIndex }) => {
      mustBeFine(`an offset of ${topic}-${partitionIndex}`, errorCode)
      return Number(offset)
    })
  } finally {
    connection.close()
  }
}
