import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { kafkaErrorOf, metadata, produce } from '@pico/kafka-codec'
import { ConnectionLostError, connectRaw, NoAnswerError, type RawConnection } from '../../raw-kafka.ts'
import { encodeBatch } from '../../test-batch.ts'
import { type AppendingClient, acknowledged, type Outcome } from './outcome.ts'

const timeoutMs = 5000
/** Of who asks for the way only: a node that died without a word is left soon. */
const metadataTimeoutMs = 1000
/** As long as clients leave between two questions for the metadata (`retry.backoff.ms`). */
const refreshMs = 100

/**
 * Appends over Kafka's protocol as a producer does: a connection to each node, and one question after the leaders of all topics that
 * it does not know any more.
 */
export function kafkaClient(ports: readonly number[], value: Uint8Array): AppendingClient {
  const records = encodeBatch({ records: [{ value: Buffer.from(value) }] })
  const connections = new Map<number, Promise<RawConnection>>()
  /** Ports, by topic. */
  const leaders = new Map<string, number>()
  const unknown = new Set<string>()
  let refreshing: Promise<void> | null = null
  let turn = 0

  const connectionTo = (port: number): Promise<RawConnection> => {
    const known = connections.get(port)
    if (known !== undefined) return known
    const made = connectRaw(port, { timeoutMs })
    connections.set(port, made)
    const drop = () => {
      if (connections.get(port) === made) connections.delete(port)
    }
    made.then((connection) => connection.closed.then(drop), drop)
    return made
  }
  const refresh = async () => {
    await sleep(refreshMs)
    const names = [...unknown]
    unknown.clear()
    const port = ports[turn++ % ports.length] ?? 0
    const connection = await connectRaw(port, { timeoutMs: metadataTimeoutMs })
    try {
      const answer = await connection.ask(metadata, 12, {
        topics: names.map((name) => ({ topicId: zeroUuid, name })),
        includeClusterAuthorizedOperations: false,
        allowAutoTopicCreation: false,
        includeTopicAuthorizedOperations: false,
      })
      const portOf = new Map(answer.brokers.map(({ nodeId, port }) => [nodeId, port]))
      for (const { name, partitions } of answer.topics) {
        const leader = portOf.get(partitions[0]?.leaderId ?? -1)
        if (leader !== undefined && name !== null) leaders.set(name, leader)
      }
    } finally {
      connection.close()
    }
  }
  const find = (topic: string): Promise<void> => {
    unknown.add(topic)
    refreshing ??= refresh().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  return {
    protocol: 'kafka',
    async append(topic): Promise<Outcome> {
      try {
        if (!leaders.has(topic)) await find(topic)
        const port = leaders.get(topic)
        if (port === undefined) return { kind: 'passing', error: 'no leader in the metadata' }
        const connection = await connectionTo(port)
        const answer = await connection.ask(produce, 9, {
          acks: -1,
          timeoutMs: 30_000,
          topicData: [{ name: topic, topicId: zeroUuid, partitionData: [{ index: 0, records }] }],
        })
        const errorCode = answer.responses[0]?.partitionResponses[0]?.errorCode ?? -1
        if (errorCode === 0) return acknowledged
        leaders.delete(topic)
        const known = kafkaErrorOf(errorCode)
        if (known?.retriable) return { kind: 'passing', error: known.name, isLed: true } // looking for the leader takes its time
        return { kind: 'refused', error: known?.name ?? `error ${errorCode}` }
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        leaders.delete(topic)
        return { kind: 'passing', error: error instanceof NoAnswerError ? 'no answer' : 'connection closed' }
      }
    },
    close() {
      for (const connection of connections.values()) {
        connection.then(
          (open) => open.close(),
          () => undefined, // there is nothing to close
        )
      }
    },
  }
}
