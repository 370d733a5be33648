import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int8, int16, int32, string, struct } from '../field.ts'

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
  sinkTopic: string({ nullable: '0+', default: null }),
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
 * Reports the topology of a streams application to its group coordinator (KIP-1331).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
 * INVALID_REQUEST, UNSUPPORTED_VERSION, UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND,
 * STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED.
 */
export const streamsGroupTopologyDescriptionUpdate = api({
  key: 93,
  name: 'StreamsGroupTopologyDescriptionUpdate',
  versions: [0, 0],
  flexibleFrom: 0,
  request: {
    groupId: string(),
    /**
     * The ID of the streams group member sending the push. The broker validates that this member is still in the
     * group; mismatches (including when the group itself has been deleted) are rejected with UNKNOWN_MEMBER_ID so the
     * client treats itself as fenced and rejoins.
     */
    memberId: string(),
    topologyEpoch: int32(),
    topologyDescription: struct(topologyDescription),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
  },
})

export type StreamsGroupTopologyDescriptionUpdateRequest = RequestOf<typeof streamsGroupTopologyDescriptionUpdate>
export type StreamsGroupTopologyDescriptionUpdateResponse = ResponseOf<typeof streamsGroupTopologyDescriptionUpdate>
