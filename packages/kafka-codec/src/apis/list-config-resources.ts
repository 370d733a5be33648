import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string } from '../field.ts'

/**
 * Lists resources that have a configuration; began as ListClientMetricsResources (KIP-714, KIP-1142).
 *
 * - v0 lists the client metrics resources.
 * - v1 lists resources of the types asked for, or of all if none is (KIP-1142).
 */
export const listConfigResources = api({
  key: 74,
  name: 'ListConfigResources',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    /** The list of resource type. If the list is empty, it uses default supported config resource types. */
    resourceTypes: array(int8(), { versions: '1+' }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    configResources: array({
      resourceName: string(),
      resourceType: int8({ versions: '1+', default: 16, ignorable: true }),
    }),
  },
})

export type ListConfigResourcesRequest = RequestOf<typeof listConfigResources>
export type ListConfigResourcesResponse = ResponseOf<typeof listConfigResources>
