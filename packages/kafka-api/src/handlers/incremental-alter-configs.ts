import { type IncrementalAlterConfigsRequest, incrementalAlterConfigs } from '@pico/kafka-codec'
import { alterResources } from '../configs/alter-resources.ts'
import { changeSome, configOperation } from '../configs/config-changes.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * IncrementalAlterConfigs 0-1 (KIP-339, kafka-compat 2.10): sets, deletes, appends to or subtracts from single settings of topics. In
 * force on every open partition when it is answered. What cannot be set is INVALID_CONFIG, naming the key: unknown keys, bad values,
 * a schema that there is not, and every key of a broker.
 * Left out: loggers, client metrics, groups (INVALID_REQUEST).
 */

type Asked = IncrementalAlterConfigsRequest['resources'][number]

const knownOperations: ReadonlySet<number> = new Set(Object.values(configOperation))

export function incrementalAlterConfigsHandler(dependencies: Dependencies): Handler {
  const { topicDefaults } = dependencies.streams
  return handler({
    api: incrementalAlterConfigs,
    versions: [0, 1],
    async handle({ resources, validateOnly }) {
      const changes = resources.map(({ resourceType, resourceName, configs }) => ({
        resourceType,
        resourceName,
        keys: configs.map(({ name }) => name),
        nullKeys: configs.flatMap(({ name, value, configOperation: operation }) =>
          value === null && operation !== configOperation.delete ? [name] : [],
        ),
        problem: unknownOperation(configs),
        change: changeSome(
          configs.map(({ name, value, configOperation: operation }) => ({ name, value, operation })),
          topicDefaults,
        ),
      }))
      return { throttleTimeMs: 0, responses: await alterResources(changes, validateOnly, dependencies) }
    },
    fail: ({ resources }, errorCode) => ({
      throttleTimeMs: 0,
      responses: resources.map(({ resourceType, resourceName }) => {
        return { errorCode, errorMessage: null, resourceType, resourceName }
      }),
    }),
  })
}

function unknownOperation(configs: Asked['configs']): string | undefined {
  const unknown = configs.find(({ configOperation: operation }) => !knownOperations.has(operation))
  return unknown && `Unknown operation ${unknown.configOperation} for ${unknown.name}`
}
