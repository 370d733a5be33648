import { zeroUuid } from '@pico/binary'
import { findCoordinator, metadata } from '@pico/kafka-codec'
import type { Seeded } from '../cross/seeded.ts'
import { ConnectionLostError, connectRaw, type RawConnection } from '../raw-kafka.ts'
import { errorName } from '../raw-topics.ts'

/** Finds brokers as a client does: asks any node, believes it, and asks another one next time. */
export interface KafkaRoutes {
  /** @throws ConnectionLostError when none answers */
  any(): Promise<RawConnection>
  /** @throws ConnectionLostError when none answers, or the partition has no leader now */
  toLeader(topic: string, partition: number): Promise<RawConnection>
  /** @throws ConnectionLostError when none answers, or the group has no coordinator now */
  toCoordinator(groupId: string): Promise<RawConnection>
}

/** A node that is stopped accepts connections and answers nothing; who only asks for the way does not wait long. */
const askTimeoutMs = 2000

export function kafkaRoutes(ports: readonly number[], random: Seeded, timeoutMs: number): KafkaRoutes {
  /** The first answer, of nodes in a random order. */
  const ask = async <T>(question: (connection: RawConnection) => Promise<T>): Promise<T> => {
    let lost: ConnectionLostError | undefined
    for (const port of random.shuffled(ports)) {
      let connection: RawConnection | undefined
      try {
        connection = await connectRaw(port, { timeoutMs: askTimeoutMs })
        return await question(connection)
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        lost = error
      } finally {
        connection?.close()
      }
    }
    throw new ConnectionLostError('no node answers', { cause: lost })
  }
  return {
    async any() {
      let lost: ConnectionLostError | undefined
      for (const port of random.shuffled(ports)) {
        try {
          return await connectRaw(port, { timeoutMs })
        } catch (error) {
          if (!(error instanceof ConnectionLostError)) throw error
          lost = error
        }
      }
      throw new ConnectionLostError('no node accepts connections', { cause: lost })
    },
    async toLeader(topic, partition) {
      const port = await ask((connection) => leaderPort(connection, topic, partition))
      return connectRaw(port, { timeoutMs })
    },
    async toCoordinator(groupId) {
      const port = await ask((connection) => coordinatorPort(connection, groupId))
      return connectRaw(port, { timeoutMs })
    },
  }
}

async function leaderPort(connection: RawConnection, name: string, partition: number): Promise<number> {
  const answer = await connection.ask(metadata, 12, {
    topics: [{ topicId: zeroUuid, name }],
    includeClusterAuthorizedOperations: false,
    allowAutoTopicCreation: false,
    includeTopicAuthorizedOperations: false,
  })
  const found = answer.topics[0]?.partitions.find(({ partitionIndex }) => partitionIndex === partition)
  const leader = answer.brokers.find(({ nodeId }) => nodeId === found?.leaderId)
  if (leader !== undefined) return leader.port
  const errorCode = found?.errorCode ?? answer.topics[0]?.errorCode ?? 0
  throw new ConnectionLostError(`${name}-${partition} has no leader: ${errorName(errorCode)}`)
}

async function coordinatorPort(connection: RawConnection, groupId: string): Promise<number> {
  const { errorCode, port } = await connection.ask(findCoordinator, 3, { key: groupId, coordinatorKeys: [] })
  if (errorCode === 0) return port
  throw new ConnectionLostError(`${groupId} has no coordinator: ${errorName(errorCode)}`)
}
