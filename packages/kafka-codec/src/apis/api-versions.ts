import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, int64, string } from '../field.ts'

/**
 * Says which APIs and versions a broker serves. Usually the first request on a connection.
 *
 * Starting from Apache Kafka 2.4 (KIP-511), ApiKeys field is populated with the supported versions of the
 * ApiVersionsRequest when an UNSUPPORTED_VERSION error is returned.
 * - v1 adds throttle time to the response.
 * - v3 adds ClientSoftwareName and ClientSoftwareVersion; is the first flexible version. Tagged fields are only
 *   supported in the body but not in the header. The length of the header must not change in order to guarantee the
 *   backward compatibility.
 * - v4 fixes KAFKA-17011, which blocked SupportedFeatures.MinVersion in the response from being 0.
 * - v5 introduces ClusterId and NodeId checking and REBOOTSTRAP_REQUIRED error (KIP-1242).
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
