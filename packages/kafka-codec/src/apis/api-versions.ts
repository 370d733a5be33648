import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, int64, string } from '../field.ts'

/**
 * Says which APIs and versions a broker serves. Usually the first request on a connection.
 *
 * - v1 adds the throttle time.
 * - v3 is flexible and adds the name and version of the client. Its response keeps the header without tagged fields,
 *   so that a client can read the answer to a version that the broker does not know.
 * - v4 allows 0 as the lowest version of a supported feature (KAFKA-17011).
 * - v5 lets the client say which cluster and node it expects, and adds the error REBOOTSTRAP_REQUIRED (KIP-1242).
 */
export const apiVersions = api({
  key: 18,
  name: 'ApiVersions',
  versions: [0, 5],
  flexibleFrom: 3,
  request: {
    clientSoftwareName: string({ versions: '3+', ignorable: true }),
    clientSoftwareVersion: string({ versions: '3+', ignorable: true }),
    /** The cluster ID the client intends to connect to. Provide both ClusterId and NodeId, if known. */
    clusterId: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
    /** The node ID the client intends to connect to. Provide both ClusterId and NodeId, if known. */
    nodeId: int32({ versions: '5+', default: -1, ignorable: true }),
  },
  response: {
    errorCode: int16(),
    apiKeys: array({
      apiKey: int16(),
      minVersion: int16(),
      maxVersion: int16(),
    }),
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    /**
     * Features supported by the broker. Note: in v0-v3, features with MinSupportedVersion = 0 are omitted.
     */
    supportedFeatures: array(
      {
        name: string(),
        minVersion: int16(),
        maxVersion: int16(),
      },
      { versions: '3+', tag: 0, ignorable: true },
    ),
    /**
     * The monotonically increasing epoch for the finalized features information. Valid values are >= 0. A value of -1
     * is special and represents unknown epoch.
     */
    finalizedFeaturesEpoch: int64({ versions: '3+', default: -1n, tag: 1, ignorable: true }),
    /**
     * List of cluster-wide finalized features. The information is valid only if FinalizedFeaturesEpoch >= 0.
     */
    finalizedFeatures: array(
      {
        name: string(),
        maxVersionLevel: int16(),
        minVersionLevel: int16(),
      },
      { versions: '3+', tag: 2, ignorable: true },
    ),
    /** Set by a KRaft controller if the required configurations for ZK migration are present. */
    zkMigrationReady: boolean({ versions: '3+', default: false, tag: 3, ignorable: true }),
  },
})

export type ApiVersionsRequest = RequestOf<typeof apiVersions>
export type ApiVersionsResponse = ResponseOf<typeof apiVersions>
