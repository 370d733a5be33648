import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, int64, string, uuid } from '../field.ts'

/**
 * Commits the offsets of a group as part of a transaction.
 *
 * - v2 adds the committed leader epoch.
 * - v3 adds the member.id, group.instance.id and generation.id.
 * - v4 adds the error TRANSACTION_ABORTABLE (KIP-890).
 * - v6 adds support for topic IDs and removes support for topic names (KIP-1319).
 *
 * Errors: GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE,
 * COORDINATOR_LOAD_IN_PROGRESS, TRANSACTIONAL_ID_AUTHORIZATION_FAILED, INVALID_PRODUCER_ID_MAPPING,
 * INVALID_PRODUCER_EPOCH, PRODUCER_FENCED, INVALID_TXN_STATE, UNSUPPORTED_FOR_MESSAGE_FORMAT,
 * UNKNOWN_TOPIC_OR_PARTITION, OFFSET_METADATA_TOO_LARGE; from v3 ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID,
 * FENCED_INSTANCE_ID; from v4 TRANSACTION_ABORTABLE; from v6 GROUP_ID_NOT_FOUND, STALE_MEMBER_EPOCH,
 * UNKNOWN_TOPIC_ID.
 */
export const txnOffsetCommit = api({
  key: 28,
  name: 'TxnOffsetCommit',
  versions: [0, 6],
  flexibleFrom: 3,
  request: {
    transactionalId: string(),
    groupId: string(),
    /** The current producer ID in use by the transactional ID. */
    producerId: int64(),
    producerEpoch: int16(),
    /**
     * The generation of the group if using the classic group protocol or the member epoch if using the consumer
     * protocol.
     */
    generationIdOrMemberEpoch: int32({ versions: '3+', default: -1 }),
    /** The member ID assigned by the group coordinator. */
    memberId: string({ versions: '3+', default: '' }),
    /** The unique identifier of the consumer instance provided by end user. */
    groupInstanceId: string({ versions: '3+', nullable: '3+', default: null }),
    topics: array({
      name: string({ versions: '0-5', ignorable: true }),
      topicId: uuid({ versions: '6+', ignorable: true }),
      partitions: array({
        partitionIndex: int32(),
        committedOffset: int64(),
        committedLeaderEpoch: int32({ versions: '2+', default: -1, ignorable: true }),
        /** Any associated metadata the client wants to keep. */
        committedMetadata: string({ nullable: '0+' }),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32(),
    topics: array({
      name: string({ versions: '0-5', ignorable: true }),
      topicId: uuid({ versions: '6+', ignorable: true }),
      partitions: array({
        partitionIndex: int32(),
        errorCode: int16(),
      }),
    }),
  },
})

export type TxnOffsetCommitRequest = RequestOf<typeof txnOffsetCommit>
export type TxnOffsetCommitResponse = ResponseOf<typeof txnOffsetCommit>
