import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, int64, string, struct, uint16 } from '../field.ts'

const endpoint = {
  host: string(),
  port: uint16(),
}

const taskOffset = {
  subtopologyId: string(),
  partition: int32(),
  offset: int64(),
}

const taskIds = {
  subtopologyId: string(),
  /** The partitions of the input topics processed by this member. */
  partitions: array(int32()),
}

const assignment = {
  activeTasks: array(taskIds),
  standbyTasks: array(taskIds),
  warmupTasks: array(taskIds),
}

const keyValue = {
  key: string(),
  value: string(),
}

const topicInfo = {
  name: string(),
  /**
   * The number of partitions in the topic. Can be 0 if no specific number of partitions is enforced. Always 0 for
   * changelog topics.
   */
  partitions: int32(),
  /** The replication factor of the topic. Can be 0 if the default replication factor should be used. */
  replicationFactor: int16(),
  /** Topic-level configurations as key-value pairs. */
  topicConfigs: array(keyValue),
}

const topologyDescriptionNode = {
  /** The name of this node (e.g., KSTREAM-SOURCE-0000000000). */
  name: string(),
  /** The type of this node: 1=SOURCE, 2=PROCESSOR, 3=SINK. */
  nodeType: int8(),
  /**
   * The source topics this node reads from. Defined only for source nodes, may be empty if source topics are
   * dynamically determined.
   */
  sourceTopics: array(string()),
  /**
   * The topic this node writes to. Defined only for sink nodes, may be null if sink topic is dynamically determined.
   */
  sinkTopic: string({ nullable: '1+', default: null }),
  /** The state store names accessed by this node. Defined only for processor nodes. */
  stores: array(string()),
  /**
   * The names of successor nodes in the processing graph. Predecessor relationships are reconstructed from this
   * field.
   */
  successors: array(string()),
}

const topologyDescriptionSubtopology = {
  subtopologyId: string(),
  nodes: array(topologyDescriptionNode),
}

const topologyDescriptionGlobalStore = {
  source: struct(topologyDescriptionNode),
  processor: struct(topologyDescriptionNode),
}

const topologyDescription = {
  subtopologies: array(topologyDescriptionSubtopology),
  globalStores: array(topologyDescriptionGlobalStore),
}

/**
 * Describes streams groups (KIP-1071).
 *
 * - v1 adds the description of the topology and the name of the assignor (KIP-1331, KIP-1357).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
 * INVALID_REQUEST, INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, TOPIC_AUTHORIZATION_FAILED.
 */
export const streamsGroupDescribe = api({
  key: 89,
  name: 'StreamsGroupDescribe',
  versions: [0, 1],
  flexibleFrom: 0,
  request: {
    groupIds: array(string()),
    includeAuthorizedOperations: boolean(),
    /**
     * Whether to include the full topology description from the topology description plugin in the response.
     */
    includeTopologyDescription: boolean({ versions: '1+', default: false }),
  },
  response: {
    throttleTimeMs: int32(),
    groups: array({
      errorCode: int16(),
      errorMessage: string({ nullable: '0+', default: null }),
      groupId: string(),
      groupState: string(),
      groupEpoch: int32(),
      assignmentEpoch: int32(),
      /**
       * The topology metadata currently initialized for the streams application. Can be null in case of a describe
       * error.
       */
      topology: struct(
        {
          epoch: int32(),
          /**
           * The subtopologies of the streams application. This contains the configured subtopologies, where the number of
           * partitions are set and any regular expressions are resolved to actual topics. Null if the group is
           * uninitialized, source topics are missing or incorrectly partitioned.
           */
          subtopologies: array(
            {
              subtopologyId: string(),
              sourceTopics: array(string()),
              repartitionSinkTopics: array(string()),
              /** The set of state changelog topics associated with this subtopology. Created automatically. */
              stateChangelogTopics: array(topicInfo),
              /** The set of source topics that are internally created repartition topics. Created automatically. */
              repartitionSourceTopics: array(topicInfo),
            },
            { nullable: '0+', default: null },
          ),
        },
        { nullable: '0+', default: null },
      ),
      members: array({
        memberId: string(),
        memberEpoch: int32(),
        instanceId: string({ nullable: '0+', default: null }),
        rackId: string({ nullable: '0+', default: null }),
        clientId: string(),
        clientHost: string(),
        topologyEpoch: int32(),
        /** Identity of the streams instance that may have multiple clients. */
        processId: string(),
        /** User-defined endpoint for Interactive Queries. Null if not defined for this client. */
        userEndpoint: struct(endpoint, { nullable: '0+', default: null }),
        /** Used for rack-aware assignment algorithm. */
        clientTags: array(keyValue),
        taskOffsets: array(taskOffset),
        taskEndOffsets: array(taskOffset),
        assignment: struct(assignment),
        targetAssignment: struct(assignment),
        /** True for classic members that have not been upgraded yet. */
        isClassic: boolean(),
      }),
      /** 32-bit bitfield to represent authorized operations for this group. */
      authorizedOperations: int32({ default: -2147483648 }),
      /**
       * The full topology description for this group. Non-null if and only if TopologyDescriptionStatus is AVAILABLE
       * (3); null otherwise.
       */
      topologyDescription: struct(topologyDescription, { versions: '1+', nullable: '1+', default: null }),
      /**
       * The status of the topology description for this group, paired with TopologyDescription: 0=NOT_REQUESTED (client
       * did not set IncludeTopologyDescription; TopologyDescription is null); 1=NOT_STORED (no description recorded for
       * this group; TopologyDescription is null); 2=ERROR (broker failed to fetch the description, see broker logs;
       * TopologyDescription is null); 3=AVAILABLE (TopologyDescription is non-null and carries the description).
       */
      topologyDescriptionStatus: int8({ versions: '1+', default: 0 }),
      /**
       * The task assignor that the group coordinator will use for the next assignment computation. This may differ from
       * the assignor that computed the current assignment, because changing the assignor configuration does not trigger
       * a rebalance. Null in case of a describe error.
       */
      assignorName: string({ versions: '1+', nullable: '1+', default: null, ignorable: true }),
    }),
  },
})

export type StreamsGroupDescribeRequest = RequestOf<typeof streamsGroupDescribe>
export type StreamsGroupDescribeResponse = ResponseOf<typeof streamsGroupDescribe>
