import { zeroUuid } from '@pico/binary'
import {
  createTopics,
  deleteTopics,
  describeConfigs,
  incrementalAlterConfigs,
  kafkaErrorOf,
  listOffsets,
  metadata,
} from '@pico/kafka-codec'
import { ConnectionLostError, connectRaw, type RawConnection } from './raw-kafka.ts'

/** Topic chores for tests and benches, in versions that every broker of today serves. Each throws on any error code. */

export async function createTopic(
  port: number,
  name: string,
  configs: Readonly<Record<string, string>> = {},
  numPartitions = 1,
): Promise<void> {
  await createTopicsOf(port, [name], configs, numPartitions)
}

export async function createTopicsOf(
  port: number,
  names: readonly string[],
  configs: Readonly<Record<string, string>> = {},
  numPartitions = 1,
): Promise<void> {
  await onConnection(port, async (connection) => {
    for (let at = 0; at < names.length; at += 500) {
      const answer = await connection.ask(createTopics, 7, {
        topics: names.slice(at, at + 500).map((name) => ({
          name,
          numPartitions,
          replicationFactor: 1,
          assignments: [],
          configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
        })),
        timeoutMs: 60_000,
        validateOnly: false,
      })
      for (const topic of answer.topics) mustBeFine(`creating ${topic.name}`, topic.errorCode)
    }
  })
}

/** Sets those settings, and leaves the others as they are. */
export async function alterTopic(
  port: number,
  topic: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await onConnection(port, async (connection) => {
    const configs = Object.entries(settings).map(([name, value]) => ({ name, value, configOperation: 0 }))
    const answer = await connection.ask(incrementalAlterConfigs, 1, {
      resources: [{ resourceType: topicResource, resourceName: topic, configs }],
      validateOnly: false,
    })
    for (const { errorCode } of answer.responses) mustBeFine(`altering ${topic}`, errorCode)
  })
}

export async function deleteTopic(port: number, name: string): Promise<void> {
  await onConnection(port, async (connection) => {
    const answer = await connection.ask(deleteTopics, 5, { topicNames: [name], timeoutMs: 60_000, topics: [] })
    for (const topic of answer.responses) mustBeFine(`deleting ${topic.name}`, topic.errorCode)
  })
}

/** The offset that the next record of partition 0 will get. */
export async function endOffset(port: number, topic: string): Promise<number> {
  return onConnection(port, async (connection) => {
    const answer = await connection.ask(listOffsets, 5, {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
      timeoutMs: 0,
    })
    const partition = answer.topics[0]?.partitions[0]
    if (partition === undefined) throw new Error(`ListOffsets says nothing of ${topic}`)
    mustBeFine(`end of ${topic}`, partition.errorCode)
    return Number(partition.offset)
  })
}

/** Every setting of a topic, by its key. */
export async function topicSettings(port: number, topic: string): Promise<Map<string, string | null>> {
  return onConnection(port, async (connection) => {
    const { results } = await connection.ask(describeConfigs, 4, {
      resources: [{ resourceType: topicResource, resourceName: topic, configurationKeys: null }],
      includeSynonyms: false,
      includeDocumentation: false,
    })
    const found = results[0]
    if (found === undefined) throw new Error(`DescribeConfigs says nothing of ${topic}`)
    mustBeFine(`settings of ${topic}`, found.errorCode)
    return new Map(found.configs.map(({ name, value }) => [name, value]))
  })
}

const topicResource = 2

export async function topicId(port: number, topic: string): Promise<string> {
  return onConnection(port, async (connection) => {
    const answer = await connection.ask(metadata, 12, {
      topics: [{ topicId: zeroUuid, name: topic }],
      includeClusterAuthorizedOperations: false,
      allowAutoTopicCreation: false,
      includeTopicAuthorizedOperations: false,
    })
    const found = answer.topics[0]
    if (found === undefined) throw new Error(`Metadata says nothing of ${topic}`)
    mustBeFine(`metadata of ${topic}`, found.errorCode)
    return found.topicId
  })
}

/** `NOT_LEADER_OR_FOLLOWER (6)` */
export function errorName(code: number): string {
  return `${kafkaErrorOf(code)?.name ?? 'unknown error'} (${code})`
}

/** The broker answered with an error code. */
export class KafkaRefusal extends Error {
  readonly isRetriable: boolean

  constructor(what: string, errorCode: number) {
    super(`${what}: ${errorName(errorCode)}`)
    this.isRetriable = kafkaErrorOf(errorCode)?.retriable === true
  }
}

/** What the broker answers; undefined while it cannot, because it is being restarted. */
export async function unlessAway<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ConnectionLostError || (error instanceof KafkaRefusal && error.isRetriable)) return undefined
    throw error
  }
}

/** @throws KafkaRefusal */
export function mustBeFine(what: string, errorCode: number): void {
  if (errorCode !== 0) throw new KafkaRefusal(what, errorCode)
}

async function onConnection<T>(port: number, work: (connection: RawConnection) => Promise<T>): Promise<T> {
  const connection = await connectRaw(port, { timeoutMs: 70_000 })
  try {
    return await work(connection)
  } finally {
    connection.close()
  }
}
