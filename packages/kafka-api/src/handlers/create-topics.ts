import { zeroUuid } from '@pico/binary'
import { type CreateTopicsRequest, createTopics, kafkaErrors } from '@pico/kafka-codec'
import type { CreateTopicRefusal, TopicDescription } from '@pico/streams'
import { describeTopicConfig } from '../configs/topic-configs.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { withoutRepeats } from '../repeated-keys.ts'

/*
 * CreateTopics 0-7 (kafka-compat 2.9): a topic is visible to the next Metadata when this one is answered. Each topic is judged alone.
 * More partitions than the operator allows (1, unless raised) is INVALID_PARTITIONS with a message that says so. Every replication
 * factor of at least 1 is accepted and reported as 1, unless the operator wants it strict: durability is the object store's.
 * v1: validate only. v4: defaults by -1. v5: what was created, with its whole configuration. v7: the topic's id.
 * Left out: the timeout, since a creation is one transaction; controller mutation quotas (v6).
 */

type Asked = CreateTopicsRequest['topics'][number]

interface Refusal {
  readonly errorCode: number
  readonly errorMessage: string
}

export function createTopicsHandler({ streams, cluster, settings, explain }: Dependencies): Handler {
  return handler({
    api: createTopics,
    versions: [0, 7],
    async handle(request) {
      const { firsts, repeated } = withoutRepeats(request.topics, ({ name }) => name)
      const topics = firsts.map((topic) =>
        repeated.has(topic.name)
          ? refused(topic.name, invalidRequest('Duplicate topic name.'))
          : createOne(topic, request.validateOnly),
      )
      return { throttleTimeMs: 0, topics: await Promise.all(topics) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      topics: request.topics.map(({ name }) => refused(name, { errorCode, errorMessage: '' })),
    }),
  })

  async function createOne(asked: Asked, validateOnly: boolean) {
    const { name, configs } = asked
    const partitions = partitionsOf(asked)
    const problem = nullConfig(asked) ?? (typeof partitions === 'number' ? null : partitions)
    try {
      const config = Object.fromEntries(configs.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])))
      const outcome = await streams.createTopic(
        problem === null && typeof partitions === 'number'
          ? { name, partitions, config, validateOnly }
          : { name, partitions: 1, config: {}, validateOnly: true }, // what is wrong with the name comes first
      )
      if (outcome.refused !== undefined) return refused(name, refusalOf(name, outcome.refused))
      return problem === null ? created(outcome.created, streams.topicDefaults, validateOnly) : refused(name, problem)
    } catch (error) {
      return refused(name, { errorCode: explain(error, 'manage'), errorMessage: 'The topic could not be created now.' })
    }
  }

  /** How many partitions the topic is to have, or what is wrong with how that is said. */
  function partitionsOf(asked: Asked): number | Refusal {
    const { numPartitions, replicationFactor, assignments } = asked
    if (assignments.length > 0) return assignmentProblem(asked) ?? assignments.length
    if (replicationFactor === 0 || replicationFactor < -1) {
      return invalidReplicationFactor('Replication factor must be larger than 0, or -1 to use the default value.')
    }
    if (settings.replicationFactor === 'strict' && replicationFactor > 1) {
      return invalidReplicationFactor(
        `Unable to replicate the partition ${replicationFactor} time(s): the records are kept by the object store, once for us.`,
      )
    }
    if (numPartitions === -1) return settings.defaultPartitions
    if (numPartitions > 0) return numPartitions
    const errorMessage = 'Number of partitions was set to an invalid non-positive value.'
    return { errorCode: kafkaErrors.invalidPartitions.code, errorMessage }
  }

  function assignmentProblem({ numPartitions, replicationFactor, assignments }: Asked): Refusal | null {
    if (numPartitions !== -1)
      return invalidRequest('A manual partition assignment was specified, but numPartitions was not set to -1.')
    if (replicationFactor !== -1) {
      return invalidRequest('A manual partition assignment was specified, but replication factor was not set to -1.')
    }
    const known = new Set(cluster.brokers().map(({ nodeId }) => nodeId))
    const indexes = new Set(assignments.map(({ partitionIndex }) => partitionIndex))
    const replicas = assignments[0]?.brokerIds.length ?? 0
    const problem =
      indexes.size < assignments.length
        ? 'Found multiple manual partition assignments for one partition.'
        : assignments.some((_, index) => !indexes.has(index))
          ? 'partitions should be a consecutive 0-based integer sequence.'
          : assignments.some(({ brokerIds }) => brokerIds.length === 0 || new Set(brokerIds).size < brokerIds.length)
            ? 'The manual partition assignment includes an empty replica list, or the same broker more than once.'
            : assignments.some(({ brokerIds }) => brokerIds.length !== replicas)
              ? 'The manual partition assignment includes a different number of replicas for some partitions.'
              : assignments.some(({ brokerIds }) => brokerIds.some((brokerId) => !known.has(brokerId)))
                ? 'The manual partition assignment includes an unknown broker.'
                : null
    return problem === null ? null : { errorCode: kafkaErrors.invalidReplicaAssignment.code, errorMessage: problem }
  }
}

function nullConfig({ configs }: Asked): Refusal | null {
  const names = configs.filter(({ value }) => value === null).map(({ name }) => name)
  if (names.length === 0) return null
  return {
    errorCode: kafkaErrors.invalidConfig.code,
    errorMessage: `Null value not supported for topic configs: ${names.join(',')}`,
  }
}

function refusalOf(name: string, refusal: CreateTopicRefusal): Refusal {
  switch (refusal.kind) {
    case 'topic-exists':
      return { errorCode: kafkaErrors.topicAlreadyExists.code, errorMessage: `Topic '${name}' already exists.` }
    case 'invalid-name':
    case 'name-collision':
      return { errorCode: kafkaErrors.invalidTopicException.code, errorMessage: refusal.message }
    case 'invalid-partitions':
      return { errorCode: kafkaErrors.invalidPartitions.code, errorMessage: refusal.message }
    case 'invalid-config':
      return { errorCode: kafkaErrors.invalidConfig.code, errorMessage: refusal.message }
  }
}

function invalidRequest(errorMessage: string): Refusal {
  return { errorCode: kafkaErrors.invalidRequest.code, errorMessage }
}

function invalidReplicationFactor(errorMessage: string): Refusal {
  return { errorCode: kafkaErrors.invalidReplicationFactor.code, errorMessage }
}

function created(topic: TopicDescription, topicDefaults: Readonly<Record<string, string>>, validateOnly: boolean) {
  const configs = describeTopicConfig(topic.config, topicDefaults).map(({ name, value, readOnly, source }) => ({
    name,
    value,
    readOnly,
    configSource: source,
    isSensitive: false,
  }))
  return {
    name: topic.name,
    topicId: validateOnly ? zeroUuid : topic.topicId,
    errorCode: 0,
    errorMessage: null,
    numPartitions: topic.partitions.length,
    replicationFactor: 1,
    configs,
  }
}

function refused(name: string, { errorCode, errorMessage }: Refusal) {
  return { name, topicId: zeroUuid, errorCode, errorMessage, configs: [] }
}
