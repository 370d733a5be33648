import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { produce } from '@pico/kafka-codec'
import { connectRaw, type RawConnection } from '../raw-kafka.ts'
import { errorName } from '../raw-topics.ts'
import { encodeBatch } from '../test-batch.ts'

const patienceMs = 30_000

/**
 * Writes one batch of values to partition 0 of each topic. A broker that has just made a topic, or just started, may not
 * lead it yet, and says so before it has written anything.
 */
export async function writeValues(port: number, byTopic: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const left = new Map(byTopic)
  const connection = await connectRaw(port)
  try {
    for (const deadline = Date.now() + patienceMs; left.size > 0; await sleep(50)) {
      for (const [topic, errorCode] of await writeOnce(connection, left)) {
        if (errorCode === 0) left.delete(topic)
        else if (errorCode !== notLeader || Date.now() > deadline) throw new Error(`${topic}: ${errorName(errorCode)}`)
      }
    }
  } finally {
    connection.close()
  }
}

const notLeader = 6

async function writeOnce(
  connection: RawConnection,
  byTopic: ReadonlyMap<string, readonly string[]>,
): Promise<[topic: string, errorCode: number][]> {
  const answer = await connection.ask(produce, 9, {
    transactionalId: null,
    acks: -1,
    timeoutMs: 30_000,
    topicData: [...byTopic].map(([name, values]) => {
      const records = values.map((value, offsetDelta) => ({ value: Buffer.from(value), offsetDelta }))
      return { name, topicId: zeroUuid, partitionData: [{ index: 0, records: encodeBatch({ records }) }] }
    }),
  })
  return answer.responses.map(({ name, partitionResponses }) => [name, partitionResponses[0]?.errorCode ?? -1])
}
