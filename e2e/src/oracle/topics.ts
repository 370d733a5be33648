import { setTimeout as sleep } from 'node:timers/promises'
import { zeroUuid } from '@pico/binary'
import { createTopics, deleteTopics, metadata } from '@pico/kafka-codec'
import { errorText, type Scenario, type Session } from './session.ts'

const unknownId = '6f2b1c8e-3a5d-4e7f-9b0a-1c2d3e4f5a6b'

/** CreateTopics, DeleteTopics, Metadata (kafka-compat 2.6, 2.9). */
export const topics: readonly Scenario[] = [
  {
    name: 'every version of CreateTopics',
    async run(session) {
      for (let version = 0; version <= 7; version++) {
        await session.note(`version ${version}`, () =>
          create(session, { name: `${session.topic}-v${version}`, version }),
        )
      }
    },
  },
  {
    name: 'topic names',
    async run(session) {
      const illegal = ['', '.', '..', 'a b', 'a/b', 'a:b', 'ünicode', 'x'.repeat(250)]
      for (const name of illegal) {
        await session.note(`"${name.slice(0, 10)}" (${name.length})`, () => create(session, { name }))
      }
      const long = `${session.topic}-`.padEnd(249, 'x')
      await session.note('249 characters', () => create(session, { name: long }))
      await session.note('with dots', () => create(session, { name: `${session.topic}.a.b` }))
      await session.note('the same with an underscore', () => create(session, { name: `${session.topic}.a_b` }))
      await session.note('there already', () => create(session, { name: `${session.topic}.a.b` }))
      await session.note('there already, only to validate', () =>
        create(session, { name: `${session.topic}.a.b`, validateOnly: true }),
      )
      await session.note('with capitals', () => create(session, { name: `${session.topic}.A.B` }))
    },
  },
  {
    name: 'partitions and replicas',
    async run(session) {
      const counts: [partitions: number, replicas: number][] = [
        ...([
          [1, 1],
          [-1, -1],
          [-1, 1],
          [1, -1],
          [0, 1],
          [-2, 1],
          [1, 0],
          [1, -2],
          [1, 2],
          [1, 3],
          [2, 1],
        ] as const),
      ].map(([partitions, replicas]) => [partitions, replicas])
      for (const [numPartitions, replicationFactor] of counts) {
        const name = `${session.topic}-p${numPartitions}-r${replicationFactor}`
        await session.note(`${numPartitions} partitions, ${replicationFactor} replicas`, () =>
          create(session, { name, numPartitions, replicationFactor }),
        )
      }
    },
  },
  {
    name: 'replicas by hand',
    async run(session) {
      const byHand = { numPartitions: -1, replicationFactor: -1 }
      const step = (title: string, question: Partial<CreateQuestion>) =>
        session.note(title, () =>
          create(session, { name: `${session.topic}-${title.replaceAll(' ', '-')}`, ...byHand, ...question }),
        )
      await step('on this broker', { assignments: [{ partitionIndex: 0, brokerIds: [1] }] })
      await step('on another', { assignments: [{ partitionIndex: 0, brokerIds: [77] }] })
      await step('on this one twice', { assignments: [{ partitionIndex: 0, brokerIds: [1, 1] }] })
      await step('on none', { assignments: [{ partitionIndex: 0, brokerIds: [] }] })
      await step('partition 1 only', { assignments: [{ partitionIndex: 1, brokerIds: [1] }] })
      await step('and counted', {
        assignments: [{ partitionIndex: 0, brokerIds: [1] }],
        numPartitions: 1,
        replicationFactor: 1,
      })
    },
  },
  {
    name: 'configs of a new topic',
    async run(session) {
      const step = (title: string, configs: NonNullable<CreateQuestion['configs']>) =>
        session.note(title, () =>
          create(session, { name: `${session.topic}-${title.replaceAll(/[^a-z]+/g, '-')}`, configs }),
        )
      await step('none', [])
      await step('retention', [{ name: 'retention.ms', value: '1000' }])
      await step('retention that is none', [{ name: 'retention.ms', value: 'soon' }])
      await step('retention too small', [{ name: 'retention.ms', value: '-2' }])
      await step('a null', [{ name: 'retention.ms', value: null }])
      await step('unknown', [{ name: 'no.such.config', value: '1' }])
      await step('policy', [{ name: 'cleanup.policy', value: 'compact' }])
      await step('policy unknown', [{ name: 'cleanup.policy', value: 'shred' }])
      await step('two policies', [{ name: 'cleanup.policy', value: 'compact,delete' }])
      await step('compression', [{ name: 'compression.type', value: 'zstd' }])
      await step('compression unknown', [{ name: 'compression.type', value: 'zip' }])
      await step('flush', [{ name: 'flush.messages', value: '1' }])
      await step('flush of zero', [{ name: 'flush.messages', value: '0' }])
      await step('message size', [{ name: 'max.message.bytes', value: '-1' }])
      await step('timestamp type', [{ name: 'message.timestamp.type', value: 'LogAppendTime' }])
      await step('timestamp type unknown', [{ name: 'message.timestamp.type', value: 'Yesterday' }])
      await step('replicas in sync', [{ name: 'min.insync.replicas', value: '1' }])
      await step('segment', [{ name: 'segment.bytes', value: '1' }])
      await step('the same twice', [
        { name: 'retention.ms', value: '1000' },
        { name: 'retention.ms', value: '2000' },
      ])
    },
  },
  {
    name: 'CreateTopics only to validate',
    async run(session) {
      const name = session.topic
      await session.note('a good one', () => create(session, { name, validateOnly: true }))
      await session.note('a bad name', () => create(session, { name: 'a b', validateOnly: true }))
      await session.note('bad partitions', () => create(session, { name, numPartitions: 0, validateOnly: true }))
      await session.note('it was not made', () => describe(session, { name }))
    },
  },
  {
    name: 'the same topic twice in one CreateTopics',
    async run(session) {
      const connection = await session.connection()
      await session.note('answers', async () => {
        const topic = { numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
        const names = [session.topic, `${session.topic}-other`, session.topic]
        const answer = await connection.ask(createTopics, 7, {
          topics: names.map((name) => ({ ...topic, name })),
          timeoutMs: 5000,
        })
        return answer.topics.map(({ name, errorCode }) => `${name === session.topic}: ${errorText(errorCode)}`).sort()
      })
      await session.note('the topic', () => describe(session, { name: session.topic }))
      await session.note('the other', () => describe(session, { name: `${session.topic}-other` }))
    },
  },
  {
    name: 'DeleteTopics by name',
    async run(session) {
      for (let version = 1; version <= 6; version++) {
        await session.makeTopic()
        await session.produce({ records: [{ value: Buffer.from('v') }] })
        await session.note(`version ${version}`, () => remove(session, [session.topic], version))
        await session.note(`gone after version ${version}`, () => gone(session))
      }
      await session.note('unknown', () => remove(session, [session.topic], 6))
      await session.note('illegal name', () => remove(session, ['a b'], 6))
      await session.makeTopic()
      await session.note('twice in one request', () => remove(session, [session.topic, session.topic], 6))
    },
  },
  {
    name: 'DeleteTopics by id',
    async run(session) {
      await session.makeTopic()
      const topicId = await session.topicId()
      const step = (title: string, ...which: { name: string | null; topicId: string }[]) =>
        session.note(title, () => removeById(session, which))
      await step('unknown id', { name: null, topicId: unknownId })
      await step('neither', { name: null, topicId: zeroUuid })
      await step('both', { name: session.topic, topicId })
      await step('by id', { name: null, topicId })
      await step('again', { name: null, topicId })
    },
  },
  {
    name: 'a topic made again is another topic',
    async run(session) {
      await session.makeTopic()
      await session.produce({ records: [{ value: Buffer.from('v') }] })
      const before = await session.topicId()
      await remove(session, [session.topic], 6)
      await session.makeTopic()
      await session.note('another id', async () => (await session.topicId()) !== before)
      await session.note('an empty log', () => session.endOffset())
      await session.note('the old id', () => describe(session, { topicId: before }))
    },
  },
  {
    name: 'every version of Metadata',
    async run(session) {
      await session.makeTopic()
      for (let version = 0; version <= 13; version++) {
        await session.note(`version ${version}`, () => describe(session, { name: session.topic, version }))
      }
    },
  },
  {
    name: 'Metadata of all topics, and of none',
    async run(session) {
      await session.makeTopic()
      for (const version of [0, 1, 4, 9, 12, 13]) {
        await session.note(`empty list, version ${version}`, () => listed(session, [], version))
        if (version > 0) await session.note(`null, version ${version}`, () => listed(session, null, version))
      }
    },
  },
  {
    name: 'Metadata of what does not exist',
    async run(session) {
      const name = session.topic
      await session.note('not to be made', () => describe(session, { name, autoCreate: false }))
      await session.note('illegal name', () => describe(session, { name: 'a b', autoCreate: true }))
      await session.note('empty name', () => describe(session, { name: '', autoCreate: true }))
      await session.note('unknown id', () => describe(session, { topicId: unknownId }))
      await session.note('neither name nor id', () => describe(session, {}))
      await session.note('an id before its time', () => describe(session, { topicId: unknownId, version: 11 }))
    },
  },
  {
    name: 'Metadata makes a topic that is missing',
    async run(session) {
      await session.note('the first answer', () => describe(session, { name: session.topic, autoCreate: true }))
      await session.note('soon after', async () => {
        for (let attempt = 0; attempt < 50; attempt++) {
          const answer = await describe(session, { name: session.topic, autoCreate: true })
          if (JSON.stringify(answer).includes('"NONE"')) return answer
          await sleep(100)
        }
        return 'never'
      })
    },
  },
  {
    name: 'Metadata by id',
    async run(session) {
      await session.makeTopic()
      const topicId = await session.topicId()
      await session.note('by id', () => describe(session, { topicId }))
      await session.note('by id and another name', () => describe(session, { topicId, name: 'another' }))
    },
  },
  {
    name: 'Metadata with authorized operations',
    async run(session) {
      await session.makeTopic()
      const connection = await session.connection()
      for (const asked of [false, true]) {
        await session.note(`asked: ${asked}`, async () => {
          const answer = await connection.ask(metadata, 10, {
            topics: [{ topicId: zeroUuid, name: session.topic }],
            allowAutoTopicCreation: false,
            includeClusterAuthorizedOperations: asked,
            includeTopicAuthorizedOperations: asked,
          })
          return [answer.clusterAuthorizedOperations, answer.topics[0]?.topicAuthorizedOperations]
        })
      }
    },
  },
]

/** Kafka answers when its controller has deleted it; its broker learns of that a moment later. */
async function gone(session: Session): Promise<unknown> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await describe(session, { name: session.topic })
    if (JSON.stringify(answer).includes('UNKNOWN_TOPIC_OR_PARTITION')) return answer
    await sleep(50)
  }
  return 'never'
}

interface CreateQuestion {
  readonly name: string
  readonly version?: number
  readonly numPartitions?: number
  readonly replicationFactor?: number
  readonly assignments?: readonly { partitionIndex: number; brokerIds: number[] }[]
  readonly configs?: readonly { name: string; value: string | null }[]
  readonly validateOnly?: boolean
}

async function create(session: Session, question: CreateQuestion): Promise<unknown> {
  const { name, version = 7, numPartitions = 1, replicationFactor = 1, assignments = [], configs = [] } = question
  const connection = await session.connection()
  const answer = await connection.ask(createTopics, version, {
    topics: [{ name, numPartitions, replicationFactor, assignments, configs }],
    timeoutMs: 10_000,
    validateOnly: question.validateOnly ?? false,
  })
  const [topic] = answer.topics
  return {
    name: topic?.name === name,
    error: errorText(topic?.errorCode ?? -1),
    partitions: topic?.numPartitions,
    replicas: topic?.replicationFactor,
    topicId: topic?.topicId === zeroUuid ? 'none' : 'some',
    // What of the configs was set; the defaults are the broker's own business here.
    configs: topic?.configs
      ?.filter((config) => configs.some(({ name }) => name === config.name))
      .map(({ name, value }) => `${name}=${value}`),
  }
}

async function remove(session: Session, names: readonly string[], version: number): Promise<unknown> {
  const connection = await session.connection()
  const answer = await connection.ask(deleteTopics, version, {
    topicNames: version >= 6 ? [] : names,
    topics: version >= 6 ? names.map((name) => ({ name, topicId: zeroUuid })) : [],
    timeoutMs: 10_000,
  })
  return answer.responses.map(({ name, errorCode }) => `${names.includes(name ?? '')}: ${errorText(errorCode)}`)
}

async function removeById(session: Session, which: { name: string | null; topicId: string }[]): Promise<unknown> {
  const connection = await session.connection()
  const answer = await connection.ask(deleteTopics, 6, { topicNames: [], topics: which, timeoutMs: 10_000 })
  return answer.responses.map(({ name, topicId, errorCode }) => ({
    name: name === null ? 'none' : name === session.topic,
    topicId: topicId === zeroUuid ? 'none' : which.some((each) => each.topicId === topicId),
    error: errorText(errorCode),
  }))
}

interface DescribeQuestion {
  readonly name?: string
  readonly topicId?: string
  readonly version?: number
  readonly autoCreate?: boolean
}

async function describe(session: Session, question: DescribeQuestion): Promise<unknown> {
  const { name = null, topicId = zeroUuid, version = 12, autoCreate = false } = question
  const connection = await session.connection()
  const answer = await connection.ask(metadata, version, {
    topics: [{ topicId, name }],
    // Before version 4 there was no choice.
    allowAutoTopicCreation: version < 4 ? true : autoCreate,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  })
  const [broker] = answer.brokers
  return {
    brokers: answer.brokers.map(({ host, port, rack }) => ({ host, port: port === session.port, rack })),
    clusterId: answer.clusterId === null ? 'none' : 'some',
    controller: answer.controllerId === broker?.nodeId,
    topics: answer.topics.map((topic) => ({
      error: errorText(topic.errorCode),
      name: topic.name === null ? 'none' : topic.name === session.topic,
      topicId: topic.topicId === zeroUuid ? 'none' : 'some',
      isInternal: topic.isInternal,
      partitions: topic.partitions.map((partition) => ({
        error: errorText(partition.errorCode),
        index: partition.partitionIndex,
        leader: partition.leaderId === broker?.nodeId,
        replicas: partition.replicaNodes.length,
        isr: partition.isrNodes.length,
        offline: partition.offlineReplicas.length,
      })),
    })),
  }
}

/** Whether the scenario's topic is among those answered, and how many brokers there are. */
async function listed(session: Session, names: [] | null, version: number): Promise<unknown> {
  const connection = await session.connection()
  const answer = await connection.ask(metadata, version, {
    topics: names,
    includeClusterAuthorizedOperations: false,
    includeTopicAuthorizedOperations: false,
  })
  return { brokers: answer.brokers.length, listed: answer.topics.some(({ name }) => name === session.topic) }
}
