import { type ApiVersionsResponse, apiVersions, kafkaErrors } from '@pico/kafka-codec'
import { type Handler, handler } from '../handler.ts'

/*
 * ApiVersions 0-4: what this broker serves, straight from its registry of handlers.
 *
 * A newer version is answered in the layout of version 0 with UNSUPPORTED_VERSION and the same list (KIP-511): see `unsupported`.
 * Key 18 comes first, because franz-go looks no further. No features: none of Kafka's apply. Left out: version 5's check of cluster and
 * node id (KIP-1242).
 */

type Served = Pick<Handler, 'key' | 'versions'>

/** KIP-511: what may name a client and its version; Kafka refuses the rest so that it never ends up in a metric's name. */
const softwareName = /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/

export function apiVersionsHandler(served: () => readonly Served[]): Handler {
  return handler({
    api: apiVersions,
    versions: [0, 4],
    handle(request, { apiVersion }) {
      if (
        apiVersion >= 3 &&
        !(softwareName.test(request.clientSoftwareName) && softwareName.test(request.clientSoftwareVersion))
      ) {
        return { errorCode: kafkaErrors.invalidRequest.code, apiKeys: [], throttleTimeMs: 0 }
      }
      return { errorCode: 0, apiKeys: advertise(served()), throttleTimeMs: 0 }
    },
    fail: (_, errorCode) => ({ errorCode, apiKeys: [], throttleTimeMs: 0 }),
  })
}

/** The answer, in version 0, to a version of ApiVersions that is not served. */
export function unsupportedApiVersions(
  served: readonly Served[],
): Pick<ApiVersionsResponse, 'errorCode' | 'apiKeys'> & { throttleTimeMs: 0 } {
  return { errorCode: kafkaErrors.unsupportedVersion.code, apiKeys: advertise(served), throttleTimeMs: 0 }
}

function advertise(served: readonly Served[]): ApiVersionsResponse['apiKeys'] {
  const first = (key: number) => (key === apiVersions.key ? -1 : key)
  return [...served]
    .sort((a, b) => first(a.key) - first(b.key))
    .map(({ key, versions: [minVersion, maxVersion] }) => ({ apiKey: key, minVersion, maxVersion }))
}
