import { zeroUuid } from '@pico/binary'
import {
  createTopics,
  fetch,
  findCoordinator,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
} from '@pico/kafka-codec'
import { grow } from './admin.ts'
import { errorText, type Scenario, type Session } from './session.ts'

/** Topics of several partitions: to be run where the operator allows them. */
export const partitions: readonly Scenario[] = [
  {
    name: 'a topic of several partitions',
    async run(session) {
      await session.note('created', () => create(session, { numPartitions: 3 }))
      await session.note('described', () => partitionsOf(session))
      for (const partition of [2, 0, 2, 1, 2]) {
        await session.note(`a record for partition ${partition} (${session.answers.size})`, () =>
          session.produce({ records: [{ value: Buffer.from('x') }] }, { partition }),
        )
      }
      await session.note('a record for one that is not there', () =>
        session.produce({ records: [{ value: Buffer.from('x') }] }, { partition: 3 }),
      )
      for (let partition = 0; partition <= 3; partition++) {
        await session.note(`latest of ${partition}`, () => latest(session, partition))
        await session.note(`fetch of ${partition}`, () => fetched(session, partition))
      }
    },
  },
  {
    name: 'replicas by hand for several partitions',
    async run(session) {
      const byHand = { numPartitions: -1, replicationFactor: -1 }
      const on = (...brokers: number[][]) => brokers.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds }))
      const step = (title: string, assignments: ReturnType<typeof on>) =>
        session.note(title, () => create(session, { ...byHand, assignments, name: `${session.topic}-${title.length}` }))
      await step('three', on([1], [1], [1]))
      await step('one of them elsewhere', on([1], [77], [1]))
      await step('one of them nowhere at all', on([1], [], [1]))
      await step('the same one twice in a row', [...on([1], [1]), { partitionIndex: 1, brokerIds: [1] }])
      await step('with a gap between these two', [...on([1]), { partitionIndex: 2, brokerIds: [1] }])
      await step('in another order than that of the numbers', on([1], [1], [1]).reverse())
    },
  },
  {
    name: 'a topic grows',
    async run(session) {
      await session.makeTopic({ 'max.message.bytes': '1000' })
      const id = await session.topicId()
      for (let version = 0; version <= 3; version++) {
        await session.note(`version ${version}`, () => grow(session, { version, count: 2 + version }))
      }
      await session.note('again', () => grow(session, { count: 5 }))
      await session.note('less', () => grow(session, { count: 4 }))
      await session.note('only to validate', () => grow(session, { count: 9, validateOnly: true }))
      await session.note('by hand', () =>
        grow(session, { count: 7, assignments: [{ brokerIds: [1] }, { brokerIds: [1] }] }),
      )
      await session.note('by hand, too few', () => grow(session, { count: 9, assignments: [{ brokerIds: [1] }] }))
      await session.note('by hand, too many', () =>
        grow(session, { count: 8, assignments: [{ brokerIds: [1] }, { brokerIds: [1] }] }),
      )
      await session.note('by hand, elsewhere', () => grow(session, { count: 8, assignments: [{ brokerIds: [77] }] }))
      await session.note('by hand, twice', () => grow(session, { count: 8, assignments: [{ brokerIds: [1, 1] }] }))
      await session.note('by hand, nowhere', () => grow(session, { count: 8, assignments: [{ brokerIds: [] }] }))
      await session.note('described', () => settledPartitions(session, 7))
      await session.note('the same topic', async () => (await session.topicId()) === id)
      await session.note('a record for the last', () =>
        session.produce({ records: [{ value: Buffer.from('x') }] }, { partition: 6 }),
      )
      await session.note('settings hold for it', () =>
        session.produce({ records: [{ value: Buffer.alloc(2000) }] }, { partition: 6 }),
      )
      await session.restart('kill')
      await session.note('after a restart', () => partitionsOf(session))
      await session.note('the record is there', () => latest(session, 6))
    },
  },
  {
    name: 'offsets of a group over several partitions',
    async run(session) {
      await create(session, { numPartitions: 3 })
      const groupId = `${session.topic}-group`
      await coordinated(session, groupId)
      const connection = await session.connection()
      await session.note('committed', async () => {
        const answer = await connection.ask(offsetCommit, 8, {
          groupId,
          generationIdOrMemberEpoch: -1,
          memberId: '',
          groupInstanceId: null,
          topics: [
            {
              name: session.topic,
              topicId: zeroUuid,
              partitions: [0, 2, 5].map((partitionIndex) => ({
                partitionIndex,
                committedOffset: BigInt(10 + partitionIndex),
                committedLeaderEpoch: -1,
                committedMetadata: '',
              })),
            },
          ],
        })
        // Kafka answers first what it refuses.
        const partitions = answer.topics[0]?.partitions ?? []
        return partitions.map(({ partitionIndex, errorCode }) => `${partitionIndex} ${errorText(errorCode)}`).sort()
      })
      await session.note('fetched', async () => {
        const answer = await connection.ask(offsetFetch, 7, {
          groupId,
          topics: [{ name: session.topic, partitionIndexes: [0, 1, 2, 5] }],
          groups: [],
          requireStable: true,
        })
        return answer.topics[0]?.partitions.map(({ committedOffset, errorCode }) => [
          Number(committedOffset),
          errorCode,
        ])
      })
    },
  },
]

/** Kafka makes the topic of offsets when a coordinator is first asked for, and cannot say where it is before. */
async function coordinated(session: Session, key: string): Promise<void> {
  const connection = await session.connection()
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const found = await connection.ask(findCoordinator, 3, { key, keyType: 0, coordinatorKeys: [] })
    if (found.errorCode === 0) {
      const answer = await connection.ask(offsetFetch, 7, {
        groupId: key,
        topics: null,
        groups: [],
        requireStable: true,
      })
      if (answer.errorCode === 0) return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`no coordinator for ${key}`)
}

interface CreateQuestion {
  readonly name?: string
  readonly numPartitions: number
  readonly replicationFactor?: number
  readonly assignments?: readonly { partitionIndex: number; brokerIds: number[] }[]
}

async function create(session: Session, question: CreateQuestion): Promise<unknown> {
  const { name = session.topic, numPartitions, replicationFactor = 1, assignments = [] } = question
  const connection = await session.connection()
  const { topics } = await connection.ask(createTopics, 7, {
    topics: [{ name, numPartitions, replicationFactor, assignments, configs: [] }],
    timeoutMs: 10_000,
    validateOnly: false,
  })
  const [topic] = topics
  if (topic?.errorCode === 0) await settledPartitions(session, topic.numPartitions, name)
  return [errorText(topic?.errorCode ?? -1), topic?.numPartitions, topic?.replicationFactor]
}

/** Kafka's broker learns of a partition a moment after its controller has made it. */
async function settledPartitions(session: Session, count: number, topic = session.topic): Promise<unknown> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const found = await partitionsOf(session, topic)
    const leads = await Promise.all(found.map(({ index }) => latest(session, index, topic)))
    if (found.length >= count && leads.every(([error]) => error === 'NONE')) return found
    if (Date.now() > deadline) throw new Error(`${topic} has ${found.length} of ${count} partitions`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function partitionsOf(session: Session, topic = session.topic) {
  const connection = await session.connection()
  const { topics } = await connection.ask(metadata, 12, {
    topics: [{ topicId: zeroUuid, name: topic }],
    allowAutoTopicCreation: false,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  })
  return (topics[0]?.partitions ?? [])
    .map(({ partitionIndex, errorCode, leaderId, replicaNodes, isrNodes }) => {
      return { index: partitionIndex, error: errorText(errorCode), leaderId, replicaNodes, isrNodes }
    })
    .sort((a, b) => a.index - b.index)
}

async function latest(session: Session, partitionIndex: number, topic = session.topic) {
  const connection = await session.connection()
  const { topics } = await connection.ask(listOffsets, 5, {
    replicaId: -1,
    isolationLevel: 0,
    topics: [{ name: topic, partitions: [{ partitionIndex, timestamp: -1n }] }],
    timeoutMs: 0,
  })
  const found = topics[0]?.partitions[0]
  return [errorText(found?.errorCode ?? -1), Number(found?.offset)] as const
}

async function fetched(session: Session, partition: number) {
  const connection = await session.connection()
  const { responses } = await connection.ask(fetch, 11, {
    replicaId: -1,
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1 << 20,
    isolationLevel: 0,
    sessionId: 0,
    sessionEpoch: -1,
    topics: [
      {
        topic: session.topic,
        topicId: zeroUuid,
        partitions: [
          {
            partition,
            currentLeaderEpoch: -1,
            fetchOffset: 0n,
            partitionMaxBytes: 1 << 20,
            replicaDirectoryId: zeroUuid,
          },
        ],
      },
    ],
    forgottenTopicsData: [],
    rackId: '',
  })
  const found = responses[0]?.partitions[0]
  return [errorText(found?.errorCode ?? -1), Number(found?.highWatermark), found?.records?.length]
}
