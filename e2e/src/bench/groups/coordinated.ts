import { setTimeout as sleep } from 'node:timers/promises'
import { findCoordinator } from '@pico/kafka-codec'
import { connectRaw } from '../../raw-kafka.ts'

const patienceMs = 60_000

/** Kafka makes its topic of offsets when a coordinator is first asked for: until it has, no group can be joined. */
export async function whenCoordinated(port: number, groupId: string): Promise<void> {
  const connection = await connectRaw(port)
  try {
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(50)) {
      const found = await connection.ask(findCoordinator, 3, { key: groupId, keyType: 0, coordinatorKeys: [] })
      if (found.errorCode === 0) return
    }
    throw new Error(`no coordinator for ${groupId}`)
  } finally {
    connection.close()
  }
}
