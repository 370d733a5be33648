import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string, uuid } from '../field.ts'

/**
 * Creates topics.
 *
 * - v1 adds ValidateOnly and error messages.
 * - v2 adds the throttle time.
 * - v4 allows -1 for partitions and replication factor: the defaults of the broker (KIP-464).
 * - v5 returns the configuration of the topic (KIP-525).
 * - v6 adds the error THROTTLING_QUOTA_EXCEEDED (KIP-599).
 * - v7 returns the id of the topic.
 */
export const createTopics = api({
  key: 19,
  name: 'CreateTopics',
  versions: [0, 7],
  flexibleFrom: 5,
  request: {
    topics: array({
      name: string(),
      /**
       * The number of partitions to create in the topic, or -1 if we are either specifying a manual partition assignment
       * or using the default partitions.
       */
      numPartitions: int32(),
      /**
       * The number of replicas to create for each partition in the topic, or -1 if we are either specifying a manual
       * partition assignment or using the default replication factor.
       */
      replicationFactor: int16(),
      /** The manual partition assignment, or the empty array if we are using automatic assignment. */
      assignments: array({
        partitionIndex: int32(),
        brokerIds: array(int32()),
      }),
      configs: array({
        name: string(),
        value: string({ nullable: '0+' }),
      }),
    }),
    /** How long to wait in milliseconds before timing out the request. */
    timeoutMs: int32({ default: 60_000 }),
    /** If true, check that the topics can be created as specified, but don't create anything. */
    validateOnly: boolean({ versions: '1+', default: false }),
  },
  response: {
    throttleTimeMs: int32({ versions: '2+', ignorable: true }),
    topics: array({
      name: string(),
      topicId: uuid({ versions: '7+', ignorable: true }),
      errorCode: int16(),
      errorMessage: string({ versions: '1+', nullable: '0+', ignorable: true }),
      /** Optional topic config error returned if configs are not returned in the response. */
      topicConfigErrorCode: int16({ versions: '5+', tag: 0, ignorable: true }),
      numPartitions: int32({ versions: '5+', default: -1, ignorable: true }),
      replicationFactor: int16({ versions: '5+', default: -1, ignorable: true }),
      configs: array(
        {
          name: string(),
          value: string({ nullable: '5+' }),
          readOnly: boolean(),
          configSource: int8({ default: -1, ignorable: true }),
          isSensitive: boolean(),
        },
        { versions: '5+', nullable: '5+', ignorable: true },
      ),
    }),
  },
})

export type CreateTopicsRequest = RequestOf<typeof createTopics>
export type CreateTopicsResponse = ResponseOf<typeof createTopics>
