import { picoHeaders } from '@pico/http-contract'
import type { HttpProducerStamp, RecordsRefusal } from '@pico/streams'
import { breaksSchema, HttpError, unavailable } from '../server/http-error.ts'

/** Why nothing was appended, as the client is told. */
export function refusedAppend(why: RecordsRefusal, producer: HttpProducerStamp | undefined): HttpError {
  switch (why.kind) {
    case 'closed':
      return new HttpError('closed', 'the stream is closed', {
        headers: [picoHeaders.closed, 'true', picoHeaders.nextSeq, String(why.nextOffset)],
        nextSeq: why.nextOffset,
      })
    case 'old-epoch':
      return new HttpError('fenced', `the producer is at epoch ${why.currentEpoch}`, {
        headers: [picoHeaders.producerEpoch, String(why.currentEpoch)],
      })
    case 'epoch-not-from-zero':
      return gap(0, producer)
    case 'sequence-gap':
      return gap(why.expectedSequence, producer)
    case 'match-failed':
      return new HttpError('match_failed', `the next sequence number is ${why.nextOffset}`, {
        headers: [picoHeaders.nextSeq, String(why.nextOffset)],
        nextSeq: why.nextOffset,
      })
    case 'too-large':
      return new HttpError('too_large', why.message)
    case 'invalid-record':
      return new HttpError('invalid_record', `record ${why.index}: ${why.message}`)
    case 'breaks-schema':
      return breaksSchema(why.judgement)
    case 'stream-seq':
      return new HttpError('conflict', 'Stream-Seq is not above the last one')
    case 'not-serving':
      return unavailable('the stream is being moved or deleted')
  }
}

function gap(expected: number, producer: HttpProducerStamp | undefined): HttpError {
  const received = producer?.sequence ?? 0
  return new HttpError('sequence_gap', `the producer's sequence number ${expected} was to come, not ${received}`, {
    headers: [picoHeaders.expectedSeq, String(expected), picoHeaders.receivedSeq, String(received)],
  })
}
