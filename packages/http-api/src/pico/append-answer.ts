import { picoHeaders } from '@pico/http-contract'
import type {
  AppendRecordsOutcome,
  AppendTerms,
  CloseOutcome,
  DuplicateAppend,
  HttpProducerStamp,
  PathStream,
} from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { refusedAppend } from './append-refusal.ts'

/** Records that are durable now, or were before. */
export function answerAppended(
  exchange: Exchange,
  stream: PathStream,
  { producer, close }: AppendTerms,
  outcome: Exclude<AppendRecordsOutcome, { kind: 'refused' }>,
): void {
  if (outcome.kind === 'duplicate') {
    answerDuplicate(exchange, stream, producer, outcome)
    return
  }
  const headers = [
    picoHeaders.startSeq,
    String(outcome.baseOffset),
    picoHeaders.nextSeq,
    String(outcome.nextOffset),
    picoHeaders.timestamp,
    String(outcome.timestampMs),
  ]
  if (close === true) headers.push(picoHeaders.closed, 'true')
  if (producer !== undefined) pushProducer(headers, producer.epoch, producer.sequence)
  exchange.respond(200, headers)
}

/** A stream sealed without a record. */
export function answerClosed(
  exchange: Exchange,
  stream: PathStream,
  { producer }: AppendTerms,
  outcome: CloseOutcome,
): void {
  if (outcome.kind === 'refused') {
    exchange.fail(refusedAppend(outcome.why, producer))
    return
  }
  if (outcome.kind === 'duplicate') {
    outcome.committed.then(
      () => answerDuplicate(exchange, stream, producer, outcome),
      (error) => exchange.fail(error),
    )
    return
  }
  const headers = [picoHeaders.nextSeq, String(outcome.nextOffset), picoHeaders.closed, 'true']
  if (producer !== undefined) pushProducer(headers, producer.epoch, producer.sequence)
  exchange.respond(200, headers)
}

/**
 * Nothing was written. Where the records are is told as long as the append that they came with is remembered; when they were written is
 * not, and by that a client knows.
 */
function answerDuplicate(
  exchange: Exchange,
  stream: PathStream,
  producer: HttpProducerStamp | undefined,
  { of, closed, lastSequence }: DuplicateAppend,
): void {
  const headers = of === null ? [] : [picoHeaders.startSeq, String(of.baseOffset)]
  headers.push(picoHeaders.nextSeq, String(of?.nextOffset ?? stream.highWatermark))
  if (closed) headers.push(picoHeaders.closed, 'true')
  if (producer !== undefined) pushProducer(headers, producer.epoch, lastSequence)
  exchange.respond(200, headers)
}

function pushProducer(headers: string[], epoch: number, sequence: number): void {
  headers.push(picoHeaders.producerEpoch, String(epoch), picoHeaders.producerSeq, String(sequence))
}
