import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import {
  createPartitions,
  deleteRecords,
  describeCluster,
  describeLogDirs,
  describeProducers,
  describeTopicPartitions,
  listPartitionReassignments,
} from '@pico/kafka-codec'
import { errorText, type Scenario, type Session } from './session.ts'

/** DeleteRecords, CreatePartitions and what admin tools ask about the cluster (kafka-compat 1, 2.9). */
export const admin: readonly Scenario[] = [
  {
    name: 'records are deleted',
    async run(session) {
      await session.makeTopic()
      for (let batch = 0; batch < 3; batch++)
        await session.produce({ records: [{ value: Buffer.from('a') }, { value: Buffer.from('b') }] })
      for (let version = 0; version <= 2; version++) {
        await session.note(`version ${version}`, () => remove(session, { version, offset: version + 1 }))
      }
      await session.note('below the start', () => remove(session, { offset: 1 }))
      await session.note('nothing at all', () => remove(session, { offset: 0 }))
      await session.note('past the end', () => remove(session, { offset: 7 }))
      await session.note('before the beginning', () => remove(session, { offset: -2 }))
      await session.note('up to the end', () => remove(session, { offset: -1 }))
      await session.note('up to the end again', () => remove(session, { offset: -1 }))
      await session.note('an unknown partition', () => remove(session, { offset: -1, partition: 5 }))
      await session.note('an unknown topic', () => remove(session, { offset: -1, topic: `${session.topic}-missing` }))
      await session.note('the end is where it was', () => session.endOffset())
      await session.note('the next record', () => session.produce({ records: [{ value: Buffer.from('c') }] }))
    },
  },
  {
    name: 'records of a compacted topic are deleted',
    async run(session) {
      const both = `${session.topic}-both`
      await session.makeTopic({ 'cleanup.policy': 'compact' })
      await session.makeTopic({ 'cleanup.policy': 'compact,delete' }, both)
      const batch = { records: [{ key: Buffer.from('k'), value: Buffer.from('v') }] }
      await session.produce(batch)
      await session.produce(batch, { topic: both })
      await session.note('only compacted', () => remove(session, { offset: -1 }))
      await session.note('compacted and deleted', () => remove(session, { offset: -1, topic: both }))
    },
  },
  {
    name: 'more partitions that are none',
    async run(session) {
      await session.makeTopic()
      const step = (title: string, question: PartitionsQuestion) => session.note(title, () => grow(session, question))
      for (let version = 0; version <= 3; version++) await step(`as many, version ${version}`, { count: 1, version })
      await step('none', { count: 0 })
      await step('less than none', { count: -1 })
      await step('an unknown topic', { count: 2, topic: `${session.topic}-missing` })
      await step('a topic without a name', { count: 2, topic: '' })
      await step('only to validate', { count: 1, validateOnly: true })
      await session.note('the same topic twice', async () => {
        const connection = await session.connection()
        const topic = { name: session.topic, count: 1, assignments: null }
        const answer = await connection.ask(createPartitions, 3, {
          topics: [topic, topic],
          timeoutMs: 10_000,
          validateOnly: true,
        })
        return answer.results.map(({ errorCode }) => errorText(errorCode))
      })
    },
  },
  {
    name: 'the cluster',
    async run(session) {
      const connection = await session.connection()
      for (const version of [0, 1]) {
        for (const asked of [false, true]) {
          await session.note(`version ${version}, operations asked: ${asked}`, async () => {
            const answer = await connection.ask(describeCluster, version, {
              includeClusterAuthorizedOperations: asked,
              includeFencedBrokers: false,
            })
            return {
              error: errorText(answer.errorCode),
              endpoints: answer.endpointType,
              clusterId: answer.clusterId === '' ? 'none' : 'some',
              controller: answer.brokers.some(({ brokerId }) => brokerId === answer.controllerId),
              brokers: answer.brokers.map(({ brokerId, host, port, rack }) => {
                return { brokerId, host, port: port === session.port, rack }
              }),
              operations: answer.clusterAuthorizedOperations,
            }
          })
        }
      }
      for (const endpointType of [2, 7]) {
        await session.note(`endpoints of type ${endpointType}`, async () => {
          const answer = await connection.ask(describeCluster, 1, {
            includeClusterAuthorizedOperations: false,
            endpointType,
            includeFencedBrokers: false,
          })
          return { error: errorText(answer.errorCode), brokers: answer.brokers.length }
        })
      }
    },
  },
  {
    name: 'topics page by page',
    async run(session) {
      const names = ['a', 'b', 'c', 'd'].map((each) => `${session.topic}-${each}`)
      for (const name of names) await session.makeTopic({}, name)
      const [a = '', b = '', c = '', d = ''] = names
      const page = (topics: readonly string[], limit: number, cursor: Cursor | null = null) =>
        topicPartitions(session, topics, limit, cursor)
      await session.note('all of them, in any order', () => page([d, b, a, c], 2000))
      await session.note('two at a time', () => page(names, 2))
      await session.note('from a cursor', () => page(names, 2, { topicName: c, partitionIndex: 0 }))
      await session.note('from a cursor past its partitions', () => page(names, 2, { topicName: c, partitionIndex: 1 }))
      await session.note('from a cursor between topics', () =>
        page(names, 9, { topicName: `${b}x`, partitionIndex: 0 }),
      )
      await session.note('from a cursor past all topics', () => page(names, 9, { topicName: 'zzz', partitionIndex: 0 }))
      await session.note('no partitions at a time', () => page(names, 0))
      await session.note('fewer than none', () => page(names, -1))
      await session.note('the same twice', () => page([a, a], 9))
      await session.note('some that are not there', () => page([a, `${a}-missing`, 'a b', b], 9))
      await session.note('only one that is not there, and no room', () => page([`${a}-missing`, `${b}-missing`], 1))
      await session.note('a cursor at a negative partition', () => page([a], 9, { topicName: a, partitionIndex: -1 }))
    },
  },
  {
    name: 'every topic page by page',
    async run(session) {
      const names = ['a', 'b'].map((each) => `zz-${session.topic}-${each}`)
      for (const name of names) await session.makeTopic({}, name)
      const cursor = { topicName: names[0] ?? '', partitionIndex: 0 }
      await session.note('from the first of ours', () => topicPartitions(session, [], 1, cursor))
      await session.note('from one that is gone', () =>
        topicPartitions(session, [], 1, { topicName: `${names[0]}x`, partitionIndex: 0 }),
      )
    },
  },
  {
    name: 'sizes of logs',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: [{ value: Buffer.alloc(1000) }] })
      for (let version = 1; version <= 4; version++) {
        await session.note(`version ${version}`, () => logDirs(session, version, [0]))
      }
      await session.note('an unknown partition', () => logDirs(session, 4, [5]))
      await session.note('an unknown topic', () => logDirs(session, 4, [0], `${session.topic}-missing`))
      await session.note('no topics', async () => {
        const connection = await session.connection()
        const { results } = await connection.ask(describeLogDirs, 4, { topics: [] })
        return results.map(({ errorCode, topics }) => [errorText(errorCode), topics.length])
      })
      await session.note('every topic', async () => {
        const connection = await session.connection()
        const { results } = await connection.ask(describeLogDirs, 4, { topics: null })
        return results.map(({ topics }) => topics.some(({ name }) => name === session.topic))
      })
    },
  },
  {
    name: 'producers of a partition',
    async run(session) {
      await session.makeTopic()
      await session.note('none', () => producers(session))
      await session.produce({ records: [{ value: Buffer.from('a') }] })
      await session.note('one without an id', () => producers(session))
      const producerId = await session.newProducerId()
      const records = [{ value: Buffer.from('a') }, { value: Buffer.from('b') }]
      await session.produce({ records, producerId, producerEpoch: 0, baseSequence: 0 })
      await session.note('an idempotent one', () => producers(session))
      await session.produce({ records, producerId, producerEpoch: 0, baseSequence: 2 })
      await session.note('after another batch', () => producers(session))
      await session.produce({ records, producerId, producerEpoch: 3, baseSequence: 0 })
      await session.note('with a later epoch', () => producers(session))
      await session.note('an unknown partition', () => producers(session, { partition: 5 }))
      await session.note('an unknown topic', () => producers(session, { topic: `${session.topic}-missing` }))
    },
  },
  {
    name: 'moves under way',
    async run(session) {
      await session.makeTopic()
      const connection = await session.connection()
      const ask = async (topics: { name: string; partitionIndexes: number[] }[] | null) => {
        const answer = await connection.ask(listPartitionReassignments, 0, { timeoutMs: 10_000, topics })
        return { error: errorText(answer.errorCode), topics: answer.topics }
      }
      await session.note('anywhere', () => ask(null))
      await session.note('of the topic', () => ask([{ name: session.topic, partitionIndexes: [0] }]))
      await session.note('of an unknown topic', () =>
        ask([{ name: `${session.topic}-missing`, partitionIndexes: [0] }]),
      )
    },
  },
]

async function remove(
  session: Session,
  question: { offset: number; version?: number; partition?: number; topic?: string },
): Promise<unknown> {
  const { offset, version = 2, partition = 0, topic = session.topic } = question
  const connection = await session.connection()
  const answer = await connection.ask(deleteRecords, version, {
    topics: [{ name: topic, partitions: [{ partitionIndex: partition, offset: BigInt(offset) }] }],
    timeoutMs: 10_000,
  })
  return answer.topics.map(({ partitions }) =>
    partitions.map(({ lowWatermark, errorCode }) => `${lowWatermark} ${errorText(errorCode)}`),
  )
}

interface PartitionsQuestion {
  readonly count: number
  readonly version?: number
  readonly topic?: string
  readonly validateOnly?: boolean
  readonly assignments?: { brokerIds: number[] }[] | null
}

export async function grow(session: Session, question: PartitionsQuestion): Promise<unknown> {
  const { count, version = 3, topic = session.topic, validateOnly = false, assignments = null } = question
  const connection = await session.connection()
  const answer = await connection.ask(createPartitions, version, {
    topics: [{ name: topic, count, assignments }],
    timeoutMs: 10_000,
    validateOnly,
  })
  return answer.results.map(({ errorCode }) => errorText(errorCode))
}

interface Cursor {
  readonly topicName: string
  readonly partitionIndex: number
}

async function topicPartitions(
  session: Session,
  topics: readonly string[],
  responsePartitionLimit: number,
  cursor: Cursor | null,
): Promise<unknown> {
  const connection = await session.connection()
  const answer = await connection.ask(describeTopicPartitions, 0, {
    topics: topics.map((name) => ({ name })),
    responsePartitionLimit,
    cursor,
  })
  return {
    topics: answer.topics.map((topic) => ({
      error: errorText(topic.errorCode),
      name: topic.name,
      topicId: topic.topicId === zeroUuid ? 'none' : 'some',
      isInternal: topic.isInternal,
      partitions: topic.partitions.map(({ leaderEpoch: _, ...partition }) => partition),
      operations: topic.topicAuthorizedOperations,
    })),
    nextCursor: answer.nextCursor,
  }
}

async function logDirs(
  session: Session,
  version: number,
  partitions: readonly number[],
  topic = session.topic,
): Promise<unknown> {
  const connection = await session.connection()
  const answer = await connection.ask(describeLogDirs, version, { topics: [{ topic, partitions }] })
  return {
    error: errorText(answer.errorCode),
    results: answer.results.map(({ errorCode, topics }) => ({
      error: errorText(errorCode),
      topics: topics.map(({ name, partitions }) => ({
        name: name === session.topic,
        partitions: partitions.map(({ partitionIndex, partitionSize, offsetLag, isFutureKey }) => {
          return { partitionIndex, partitionSize, offsetLag, isFutureKey }
        }),
      })),
    })),
  }
}

/** Kafka answers from memory that may be a moment behind the last append: two looks. */
async function producers(session: Session, where: { topic?: string; partition?: number } = {}): Promise<unknown> {
  await sleep(20)
  const { topic = session.topic, partition = 0 } = where
  const connection = await session.connection()
  const answer = await connection.ask(describeProducers, 0, {
    topics: [{ name: topic, partitionIndexes: [partition] }],
  })
  return answer.topics.map(({ partitions }) =>
    partitions.map(({ errorCode, activeProducers }) => ({
      error: errorText(errorCode),
      producers: activeProducers.map(({ producerId, lastTimestamp, ...rest }) => {
        return { ...rest, producerId: producerId >= 0n, lastTimestamp: lastTimestamp >= 0n }
      }),
    })),
  )
}
