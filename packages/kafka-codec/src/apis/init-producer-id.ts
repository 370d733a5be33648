import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { boolean, int16, int32, int64, string } from '../field.ts'

/**
 * Gives an idempotent or transactional producer its id and epoch (KIP-98, KIP-360).
 *
 * - v3 adds ProducerId and ProducerEpoch, allowing producers to try to resume after an INVALID_PRODUCER_EPOCH error.
 * - v4 adds the error PRODUCER_FENCED.
 * - v5 adds the error TRANSACTION_ABORTABLE (KIP-890).
 * - v6 adds two-phase commit (KIP-939); Kafka 4.4 counts it as unstable and does not offer it.
 */
export const initProducerId = api({
  key: 22,
  name: 'InitProducerId',
  versions: [0, 6],
  flexibleFrom: 2,
  request: {
    transactionalId: string({ nullable: '0+' }),
    /**
     * The time in ms to wait before aborting idle transactions sent by this producer. This is only relevant if a
     * TransactionalId has been defined.
     */
    transactionTimeoutMs: int32(),
    /**
     * The producer id. This is used to disambiguate requests if a transactional id is reused following its expiration.
     */
    producerId: int64({ versions: '3+', default: -1n }),
    /**
     * The producer's current epoch. This will be checked against the producer epoch on the broker, and the request
     * will return an error if they do not match.
     */
    producerEpoch: int16({ versions: '3+', default: -1 }),
    /** True if the client wants to enable two-phase commit (2PC) protocol for transactions. */
    enable2Pc: boolean({ versions: '6+', default: false }),
    /** True if the client wants to keep the currently ongoing transaction instead of aborting it. */
    keepPreparedTxn: boolean({ versions: '6+', default: false }),
  },
  response: {
    throttleTimeMs: int32({ ignorable: true }),
    errorCode: int16(),
    producerId: int64({ default: -1n }),
    producerEpoch: int16(),
    /**
     * The producer id for ongoing transaction when KeepPreparedTxn is used, -1 if there is no transaction ongoing.
     */
    ongoingTxnProducerId: int64({ versions: '6+', default: -1n }),
    /**
     * The epoch associated with the producer id for ongoing transaction when KeepPreparedTxn is used, -1 if there is
     * no transaction ongoing.
     */
    ongoingTxnProducerEpoch: int16({ versions: '6+', default: -1 }),
  },
})

export type InitProducerIdRequest = RequestOf<typeof initProducerId>
export type InitProducerIdResponse = ResponseOf<typeof initProducerId>
