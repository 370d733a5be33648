import { adminOperations } from './admin-operations.ts'
import { components, operationObject } from './operation.ts'
import { picoOperations } from './pico-operations.ts'
import { schemaOperations } from './schema-operations.ts'

export interface OpenApiSettings {
  readonly version: string
  /** Where the admin API is served: `http://127.0.0.1:9090`. */
  readonly adminUrl: string
  /** Where the Pico protocol is; null when it is not. */
  readonly picoUrl: string | null
}

const description = `Streams over HTTP, and the admin API. A stream's name is the path of a request and may have slashes.
The schemas are those that the server checks requests and makes its answers by. Durable Streams, where it is served, is
described by its own specification (https://github.com/durable-streams/durable-streams).`

/** The OpenAPI 3.1 document of what is served, made of the schemas that the server uses itself. */
export function openApiDocument({ version, adminUrl, picoUrl }: OpenApiSettings): object {
  const operations = [
    ...(picoUrl === null ? [] : [...picoOperations(picoUrl), ...schemaOperations(picoUrl)]),
    ...adminOperations(adminUrl),
  ]
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    paths[operation.path] ??= {}
    paths[operation.path]![operation.method] = operationObject(operation)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'PicoMQ', version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: components(),
  }
}
