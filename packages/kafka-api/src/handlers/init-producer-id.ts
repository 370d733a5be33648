import { initProducerId, kafkaErrors } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * InitProducerId 0-5 (kafka-compat 2.3): always a fresh id, never given out before, with epoch 0, whatever id and epoch a producer
 * already has (v3 sends them). Any node answers: an idempotent producer has no coordinator.
 * Left out: transactions. A transactional id is refused with an error that every client treats as final; v6 is two-phase commit.
 */

export function initProducerIdHandler({ streams, explain }: Dependencies): Handler {
  return handler({
    api: initProducerId,
    versions: [0, 5],
    async handle({ transactionalId, producerId, producerEpoch }) {
      if (transactionalId !== null && transactionalId !== '')
        return refused(kafkaErrors.transactionalIdAuthorizationFailed.code)
      const onlyOneGiven = (producerId === -1n) !== (producerEpoch === -1)
      if (transactionalId === '' || onlyOneGiven) return refused(kafkaErrors.invalidRequest.code)
      try {
        return {
          errorCode: 0,
          producerId: BigInt(await streams.allocateProducerId()),
          producerEpoch: 0,
          throttleTimeMs: 0,
        }
      } catch (error) {
        const errorCode = explain(error, 'manage')
        const isBug = errorCode === kafkaErrors.unknownServerError.code
        return refused(isBug ? errorCode : kafkaErrors.coordinatorLoadInProgress.code)
      }
    },
    fail: (_, errorCode) => refused(errorCode),
  })
}

function refused(errorCode: number) {
  return { errorCode, producerId: -1n, producerEpoch: -1, throttleTimeMs: 0 }
}
