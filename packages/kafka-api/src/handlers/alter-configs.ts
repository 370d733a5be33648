import { alterConfigs } from '@pico/kafka-codec'
import { alterResources } from '../configs/alter-resources.ts'
import { replaceAll } from '../configs/config-changes.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * AlterConfigs 0-2 (kafka-compat 2.10): the old way, which replaces all settings of a topic: those not named have their defaults again.
 * In force on every open partition when it is answered.
 * Left out: brokers and other resources, see IncrementalAlterConfigs.
 */

export function alterConfigsHandler(dependencies: Dependencies): Handler {
  return handler({
    api: alterConfigs,
    versions: [0, 2],
    async handle({ resources, validateOnly }) {
      const changes = resources.map(({ resourceType, resourceName, configs }) => ({
        resourceType,
        resourceName,
        keys: configs.map(({ name }) => name),
        nullKeys: configs.flatMap(({ name, value }) => (value === null ? [name] : [])),
        change: replaceAll(configs),
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
