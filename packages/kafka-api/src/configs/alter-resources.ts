import { kafkaErrors } from '@pico/kafka-codec'
import type { TopicConfigChange } from '@pico/streams'
import type { Dependencies } from '../dependencies.ts'
import { withoutRepeats } from '../repeated-keys.ts'
import { configResource, resourceKind } from './config-resource.ts'

/** A resource as AlterConfigs and IncrementalAlterConfigs name it, and what is to become of it. */
export interface ResourceChange {
  readonly resourceType: number
  readonly resourceName: string
  /** Keys named, in order. */
  readonly keys: readonly string[]
  /** Of a request that no change can be read from. */
  readonly problem?: string | undefined
  /** Keys that are given a null where a value is needed. */
  readonly nullKeys: readonly string[]
  readonly change: TopicConfigChange
}

export interface ResourceAnswer {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly resourceType: number
  readonly resourceName: string
}

interface Verdict {
  readonly errorCode: number
  readonly errorMessage: string | null
}

const done: Verdict = { errorCode: 0, errorMessage: null }

/**
 * Changes each resource by itself, all of it or nothing. Topics only: what a broker has is given on its command line, so that any key of
 * one is INVALID_CONFIG.
 */
export async function alterResources(
  resources: readonly ResourceChange[],
  validateOnly: boolean,
  { streams, explain }: Pick<Dependencies, 'streams' | 'explain'>,
): Promise<ResourceAnswer[]> {
  const keyOf = ({ resourceType, resourceName }: ResourceChange) => `${resourceType} ${resourceName}`
  const { repeated } = withoutRepeats(resources, keyOf)
  return Promise.all(
    resources.map(async (resource) => {
      const { resourceType, resourceName } = resource
      const isRepeated = repeated.has(keyOf(resource))
      const verdict = isRepeated ? invalidRequest('Each resource must appear at most once.') : await alterOne(resource)
      return { ...verdict, resourceType, resourceName }
    }),
  )

  async function alterOne(resource: ResourceChange): Promise<Verdict> {
    const malformed = malformation(resource)
    if (malformed !== null) return malformed
    const { resourceType, resourceName, keys, change } = resource
    if (resourceType === configResource.broker) return alterBroker(resourceName, keys)
    if (resourceType !== configResource.topic) {
      return invalidRequest(`The configuration of ${resourceKind(resourceType)} cannot be changed here.`)
    }
    if (resourceName === '') return invalidRequest('Default topic resources are not allowed.')
    try {
      const { refused } = await streams.alterTopicConfig({ name: resourceName }, change, validateOnly)
      if (refused === undefined) return done
      if (refused.kind === 'unknown-topic') {
        const errorMessage = `The topic '${resourceName}' does not exist.`
        return { errorCode: kafkaErrors.unknownTopicOrPartition.code, errorMessage }
      }
      return { errorCode: kafkaErrors.invalidConfig.code, errorMessage: refused.message }
    } catch (error) {
      return { errorCode: explain(error, 'manage'), errorMessage: 'The configuration could not be changed now.' }
    }
  }

  function alterBroker(name: string, keys: readonly string[]): Verdict {
    if (name !== '' && name !== String(streams.nodeId)) {
      return invalidRequest(
        `Unexpected broker id, expected ${streams.nodeId} or an empty string, but received ${name}.`,
      )
    }
    if (keys.length === 0) return done
    const errorMessage = `${keys.join(', ')}: what a broker has is given on its command line, and does not change while it runs.`
    return { errorCode: kafkaErrors.invalidConfig.code, errorMessage }
  }
}

function malformation({ keys, nullKeys, problem }: ResourceChange): Verdict | null {
  if (new Set(keys).size < keys.length) return invalidRequest('Error due to duplicate config keys')
  if (nullKeys.length > 0) return invalidRequest(`Null value not supported for : ${nullKeys.join(',')}`)
  return problem === undefined ? null : invalidRequest(problem)
}

function invalidRequest(errorMessage: string): Verdict {
  return { errorCode: kafkaErrors.invalidRequest.code, errorMessage }
}
