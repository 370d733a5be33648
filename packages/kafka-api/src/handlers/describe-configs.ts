import { type DescribeConfigsRequest, describeConfigs, kafkaErrors } from '@pico/kafka-codec'
import { topicNameProblem } from '@pico/streams'
import { describeBrokerConfig } from '../configs/broker-configs.ts'
import { type ConfigEntry, wireEntry } from '../configs/config-entry.ts'
import { configResource, resourceKind } from '../configs/config-resource.ts'
import { describeTopicConfig } from '../configs/topic-configs.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * DescribeConfigs 0-4 (kafka-compat 2.10): every key that a topic of Kafka 4.4 has, and those of a broker that mean something here.
 * Each resource is answered by itself. Of a broker only this one is known; the empty name, the defaults of all brokers, has nothing:
 * nothing can be set while brokers run.
 * v0 says whether a value is the default. v1: where it comes from, and synonyms. v3: types and documentation.
 * Left out: loggers, client metrics, groups (INVALID_REQUEST).
 */

type Asked = DescribeConfigsRequest['resources'][number]

type Outcome =
  | { readonly entries: readonly ConfigEntry[]; readonly errorCode?: never }
  | { readonly entries?: never; readonly errorCode: number; readonly errorMessage: string }

export function describeConfigsHandler({ streams, cluster, settings, explain }: Dependencies): Handler {
  return handler({
    api: describeConfigs,
    versions: [0, 4],
    async handle(request, { apiVersion }) {
      const results = request.resources.map(async (asked) => {
        const outcome = await describeOne(asked)
        const entries = (outcome.entries ?? []).filter(({ name }) => isWanted(asked, name))
        return {
          errorCode: outcome.errorCode ?? 0,
          errorMessage: outcome.errorCode === undefined ? null : outcome.errorMessage,
          resourceType: asked.resourceType,
          resourceName: asked.resourceName,
          configs: entries.map((entry) => wireEntry(entry, request, apiVersion)),
        }
      })
      return { throttleTimeMs: 0, results: await Promise.all(results) }
    },
    fail: (request, errorCode) => ({
      throttleTimeMs: 0,
      results: request.resources.map(({ resourceType, resourceName }) => {
        return { errorCode, errorMessage: null, resourceType, resourceName, configs: [] }
      }),
    }),
  })

  async function describeOne({ resourceType, resourceName }: Asked): Promise<Outcome> {
    try {
      switch (resourceType) {
        case configResource.topic:
          return await describeTopic(resourceName)
        case configResource.broker:
          return describeBroker(resourceName)
        default:
          return invalid(`The configuration of ${resourceKind(resourceType)} cannot be described here.`)
      }
    } catch (error) {
      return { errorCode: explain(error, 'manage'), errorMessage: 'The configuration could not be read now.' }
    }
  }

  async function describeTopic(name: string): Promise<Outcome> {
    const problem = topicNameProblem(name)
    if (problem !== null) return { errorCode: kafkaErrors.invalidTopicException.code, errorMessage: problem }
    const [topic] = await streams.describeTopics([{ name }])
    if (topic !== undefined) return { entries: describeTopicConfig(topic.config, streams.topicDefaults) }
    const errorMessage = `The topic '${name}' does not exist.`
    return { errorCode: kafkaErrors.unknownTopicOrPartition.code, errorMessage }
  }

  function describeBroker(name: string): Outcome {
    if (name === '') return { entries: [] }
    const known = cluster.brokers().find(({ nodeId }) => nodeId === streams.nodeId)
    if (known !== undefined && name === String(known.nodeId)) {
      return { entries: describeBrokerConfig(known, settings, streams.topicDefaults) }
    }
    return invalid(`Unexpected broker id, expected ${streams.nodeId} or an empty string, but received ${name}.`)
  }
}

/** Kafka gives everything for no list of keys, and for an empty one. */
function isWanted({ configurationKeys }: Asked, name: string): boolean {
  return configurationKeys === null || configurationKeys.length === 0 || configurationKeys.includes(name)
}

function invalid(errorMessage: string): Outcome {
  return { errorCode: kafkaErrors.invalidRequest.code, errorMessage }
}
