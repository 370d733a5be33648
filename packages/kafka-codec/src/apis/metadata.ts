import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int16, int32, string, uuid } from '../field.ts'

/**
 * Names the brokers, and the leaders of topics and partitions; may create the topics asked for.
 *
 * - v1 adds racks, the controller id, and whether a topic is internal; null asks for all topics.
 * - v2 adds the cluster id.
 * - v3 adds the throttle time.
 * - v5 adds offline replicas.
 * - v7 adds leader epochs.
 * - v8 adds authorized operations, on request.
 * - v10 adds topic ids.
 * - v11 drops the authorized operations of the cluster: DescribeCluster has them (KIP-700).
 * - v12 asks for topics by id.
 * - v13 adds an error code for the whole.
 */
export const metadata = api({
  key: 3,
  name: 'Metadata',
  versions: [0, 13],
  flexibleFrom: 9,
  request: {
    topics: array(
      {
        topicId: uuid({ versions: '10+', ignorable: true }),
        name: string({ nullable: '10+' }),
      },
      { nullable: '1+' },
    ),
    /**
     * If this is true, the broker may auto-create topics that we requested which do not already exist, if it is
     * configured to do so.
     */
    allowAutoTopicCreation: boolean({ versions: '4+', default: true }),
    includeClusterAuthorizedOperations: boolean({ versions: '8-10' }),
    includeTopicAuthorizedOperations: boolean({ versions: '8+' }),
  },
  response: {
    throttleTimeMs: int32({ versions: '3+', ignorable: true }),
    brokers: array({
      nodeId: int32(),
      host: string(),
      port: int32(),
      rack: string({ versions: '1+', nullable: '1+', default: null, ignorable: true }),
    }),
    clusterId: string({ versions: '2+', nullable: '2+', default: null, ignorable: true }),
    controllerId: int32({ versions: '1+', default: -1, ignorable: true }),
    topics: array({
      errorCode: int16(),
      /**
       * The topic name. Null for non-existing topics queried by ID. This is never null when ErrorCode is zero. One of
       * Name and TopicId is always populated.
       */
      name: string({ nullable: '12+' }),
      /**
       * The topic id. Zero for non-existing topics queried by name. This is never zero when ErrorCode is zero. One of
       * Name and TopicId is always populated.
       */
      topicId: uuid({ versions: '10+', ignorable: true }),
      isInternal: boolean({ versions: '1+', default: false, ignorable: true }),
      partitions: array({
        errorCode: int16(),
        partitionIndex: int32(),
        leaderId: int32(),
        leaderEpoch: int32({ versions: '7+', default: -1, ignorable: true }),
        replicaNodes: array(int32()),
        /** The set of nodes that are in sync with the leader for this partition. */
        isrNodes: array(int32()),
        offlineReplicas: array(int32(), { versions: '5+', ignorable: true }),
      }),
      /** 32-bit bitfield to represent authorized operations for this topic. */
      topicAuthorizedOperations: int32({ versions: '8+', default: -2147483648 }),
    }),
    /** 32-bit bitfield to represent authorized operations for this cluster. */
    clusterAuthorizedOperations: int32({ versions: '8-10', default: -2147483648 }),
    errorCode: int16({ versions: '13+', ignorable: true }),
  },
})

export type MetadataRequest = RequestOf<typeof metadata>
export type MetadataResponse = ResponseOf<typeof metadata>
