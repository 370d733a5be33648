import { zeroUuid } from '@pico/binary'
import { kafkaErrors, type MetadataRequest, metadata, type ResponseInput } from '@pico/kafka-codec'
import type { CreateTopicRefusal, TopicDescription, TopicRef } from '@pico/streams'
import { allClusterOperations, allTopicOperations, operationsNotAsked } from '../authorized-operations.ts'
import { controllerId, type Dependencies } from '../dependencies.ts'
import { type Handler, handler, type RequestContext } from '../handler.ts'
import { partitionState } from '../partition-state.ts'

/*
 * Metadata 0-13 (kafka-compat 2.6): nodes as they advertise themselves, topics with the leader epochs in force.
 *
 * Unknown topics are created where client (v4) and settings allow, and the finished topic is the answer at once: Kafka says
 * LEADER_NOT_AVAILABLE and lets the client ask again. Internal names of Kafka (`__consumer_offsets`) are not created on the way.
 * v0: an empty list means all topics; later null does. v10: topic ids. v12: asking by id; one id makes names count for nothing.
 * One replica per partition, its leader. Left out: racks, offline replicas, listing brokers per listener.
 */

type Response = ResponseInput<typeof metadata>
type TopicAnswer = Response['topics'][number]
type Asked = NonNullable<MetadataRequest['topics']>[number]

const internalTopics: ReadonlySet<string> = new Set([
  '__consumer_offsets',
  '__transaction_state',
  '__share_group_state',
])

export function metadataHandler({ streams, cluster, settings, explain }: Dependencies): Handler {
  return handler({
    api: metadata,
    versions: [0, 13],
    largeAnswer: true,
    async handle(request, context) {
      const { apiVersion } = context
      const asked = request.topics ?? []
      const all = request.topics === null || (apiVersion === 0 && asked.length === 0)
      const byId = apiVersion >= 12 && asked.some(({ topicId }) => topicId !== zeroUuid)
      if (!all && !byId && isMalformed(asked, apiVersion))
        return failed(request, kafkaErrors.invalidRequest.code, context)
      const operations = request.includeTopicAuthorizedOperations ? allTopicOperations : operationsNotAsked
      const answers = all ? await everyTopic() : byId ? await topicsById(asked) : await topicsByName(asked, request)
      return {
        ...frame(request),
        topics: answers.map((topic) => ({ ...topic, topicAuthorizedOperations: operations })),
      }
    },
    fail: (request, errorCode, context) =>
      failed(
        request,
        errorCode === kafkaErrors.requestTimedOut.code ? kafkaErrors.leaderNotAvailable.code : errorCode,
        context,
      ),
  })

  /** Everything but the topics. */
  function frame(request: MetadataRequest): Omit<Response, 'topics'> {
    const brokers = cluster.brokers()
    return {
      brokers,
      clusterId: streams.clusterId,
      controllerId: controllerId(brokers),
      clusterAuthorizedOperations: request.includeClusterAuthorizedOperations
        ? allClusterOperations
        : operationsNotAsked,
      throttleTimeMs: 0,
      errorCode: 0,
    }
  }

  /** Before v13 only topics have a place for an error. */
  function failed(request: MetadataRequest, errorCode: number, { apiVersion }: RequestContext): Response {
    const topics = (request.topics ?? []).map(({ name, topicId }) =>
      unknownTopic(apiVersion < 12 ? (name ?? '') : name, topicId, errorCode),
    )
    return { ...frame(request), errorCode, topics }
  }

  async function everyTopic(): Promise<TopicAnswer[]> {
    const topics: TopicAnswer[] = []
    for await (const topic of streams.listTopics()) topics.push(describe(topic))
    return topics
  }

  async function topicsById(asked: readonly Asked[]): Promise<TopicAnswer[]> {
    const ids = asked.map(({ topicId }) => topicId).filter((topicId) => topicId !== zeroUuid)
    const found = await streams.describeTopics(ids.map((topicId) => ({ topicId })))
    return ids.map((topicId, at) => {
      const topic = found[at]
      return topic === undefined ? unknownTopic(null, topicId, kafkaErrors.unknownTopicId.code) : describe(topic)
    })
  }

  async function topicsByName(asked: readonly Asked[], request: MetadataRequest): Promise<TopicAnswer[]> {
    const names = [...new Set(asked.map(({ name }) => name ?? ''))]
    const found = await streams.describeTopics(names.map((name): TopicRef => ({ name })))
    const mayCreate = request.allowAutoTopicCreation && settings.autoCreateTopics
    return Promise.all(
      names.map(async (name, at) => {
        const topic = found[at]
        if (topic !== undefined) return describe(topic)
        if (mayCreate && !internalTopics.has(name)) return createOnTheWay(name)
        const isLegal = await streams.createTopic({ name, partitions: 1, config: {}, validateOnly: true })
        const illegal = isLegal.refused?.kind === 'invalid-name'
        return unknownTopic(
          name,
          zeroUuid,
          illegal ? kafkaErrors.invalidTopicException.code : kafkaErrors.unknownTopicOrPartition.code,
        )
      }),
    )
  }

  async function createOnTheWay(name: string): Promise<TopicAnswer> {
    try {
      const outcome = await streams.createTopic({
        name,
        partitions: settings.defaultPartitions,
        config: {},
        validateOnly: false,
      })
      if (outcome.created !== undefined) return describe(outcome.created)
      const [existing] = outcome.refused.kind === 'topic-exists' ? await streams.describeTopics([{ name }]) : []
      return existing === undefined
        ? unknownTopic(name, zeroUuid, errorOfRefusal[outcome.refused.kind])
        : describe(existing)
    } catch (error) {
      const errorCode = explain(error, 'manage')
      const isBug = errorCode === kafkaErrors.unknownServerError.code
      return unknownTopic(name, zeroUuid, isBug ? errorCode : kafkaErrors.leaderNotAvailable.code)
    }
  }

  function describe(topic: TopicDescription): TopicAnswer {
    const brokers = cluster.brokers()
    const partitions = topic.partitions.map((partition) => partitionState(partition, brokers))
    return {
      errorCode: 0,
      name: topic.name,
      topicId: topic.topicId,
      isInternal: internalTopics.has(topic.name),
      partitions,
    }
  }
}

/** Versions 10 and 11 have the id in their layout, but cannot ask by it (KIP-516); a topic without a name needs one. */
function isMalformed(asked: readonly Asked[], apiVersion: number): boolean {
  return asked.some(({ name, topicId }) => name === null || (apiVersion < 12 && topicId !== zeroUuid))
}

function unknownTopic(name: string | null, topicId: string, errorCode: number): TopicAnswer {
  return { errorCode, name, topicId, isInternal: false, partitions: [] }
}

const errorOfRefusal: Readonly<Record<CreateTopicRefusal['kind'], number>> = {
  'topic-exists': kafkaErrors.leaderNotAvailable.code, // it was there, and was deleted while we looked: ask again
  'invalid-name': kafkaErrors.invalidTopicException.code,
  'name-collision': kafkaErrors.invalidTopicException.code,
  'invalid-partitions': kafkaErrors.invalidPartitions.code,
  'invalid-config': kafkaErrors.invalidConfig.code,
}
