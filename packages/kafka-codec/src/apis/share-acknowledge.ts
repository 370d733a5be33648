import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, int64, string, struct, uuid } from '../field.ts'

/**
 * Acknowledges records acquired by a member of a share group (KIP-932).
 *
 * - v1 is the first stable version.
 * - v2 adds the renewal of acquisition locks (KIP-1222).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION,
 * SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_ID,
 * INVALID_RECORD_STATE, KAFKA_STORAGE_ERROR, INVALID_REQUEST, UNKNOWN_SERVER_ERROR.
 */
export const shareAcknowledge = api({
  key: 79,
  name: 'ShareAcknowledge',
  versions: [1, 2],
  flexibleFrom: 0,
  request: {
    groupId: string({ nullable: '0+', default: null }),
    memberId: string({ nullable: '0+' }),
    /**
     * The current share session epoch: 0 to open a share session; -1 to close it; otherwise increments for consecutive
     * requests.
     */
    shareSessionEpoch: int32(),
    /** Whether Renew type acknowledgements present in AcknowledgementBatches. */
    isRenewAck: boolean({ versions: '2+', default: false }),
    topics: array({
      topicId: uuid(),
      partitions: array({
        partitionIndex: int32(),
        acknowledgementBatches: array({
          firstOffset: int64(),
          lastOffset: int64(),
          /** Array of acknowledge types - 0:Gap,1:Accept,2:Release,3:Reject,4:Renew. */
          acknowledgeTypes: array(int8()),
        }),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+', default: null }),
    /** The time in milliseconds for which the acquired records are locked. */
    acquisitionLockTimeoutMs: int32({ versions: '2+', ignorable: true }),
    responses: array({
      topicId: uuid(),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', default: null }),
        currentLeader: struct({
          leaderId: int32(),
          leaderEpoch: int32(),
        }),
      }),
    }),
    /** Endpoints for all current leaders enumerated in PartitionData with error NOT_LEADER_OR_FOLLOWER. */
    nodeEndpoints: array({
      nodeId: int32(),
      host: string(),
      port: int32(),
      rack: string({ nullable: '0+', default: null }),
    }),
  },
})

export type ShareAcknowledgeRequest = RequestOf<typeof shareAcknowledge>
export type ShareAcknowledgeResponse = ResponseOf<typeof shareAcknowledge>
