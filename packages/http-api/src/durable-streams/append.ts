import type { AppendRecordsOutcome, CloseOutcome, HttpProducerStamp, PathStream, RecordsRefusal } from '@pico/streams'
import { type Answer, type AnswerHeaders, badRequest, done, missed, type Refusal, refused } from './answer.ts'
import { jsonMessages } from './json-messages.ts'
import { givenContentType, isSameMediaType, modeOf } from './media-type.ts'
import { offsetToken, recordStart } from './offset-token.ts'
import { Problem } from './problem.ts'
import { parseProducer } from './producer-headers.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'
import { isTrue } from './stream-closed.ts'

/**
 * POST: appends the body, closes the stream, or both in one. What is wrong is looked for in this order: producer headers, an empty body, its
 * type missing, the stream, closed, the type, the producer, `Stream-Seq`, JSON. Nothing is written, and no number is used up, unless all is right.
 * Messages that are no JSON are told before the producer is asked, because the producer is asked by appending.
 */
export async function append(request: DurableRequest, parts: DurableStreamsParts): Promise<Answer> {
  const producer = parseProducer({
    id: request.header('producer-id'),
    epoch: request.header('producer-epoch'),
    seq: request.header('producer-seq'),
  })
  if (producer instanceof Problem) return badRequest(producer)
  const close = isTrue(request.header('stream-closed'))
  const isEmpty = request.body.length === 0
  if (isEmpty && !close) return refused('bad_request', 'an append has a body')
  const contentType = givenContentType(request.header('content-type'))
  if (!isEmpty && contentType === null) return refused('bad_request', 'an append says its Content-Type')

  // Nothing is awaited when the stream is open: requests are appended in the order they came.
  const opening = parts.streams.open(request.name)
  const stream = opening instanceof Promise ? await opening : opening
  if (typeof stream === 'string' || 'kind' in stream) return missed(stream)
  if (isEmpty) return closed(await stream.closeNow(producer ?? undefined), stream, producer)

  const values = stream.closed ? [request.body] : messagesOf(request.body, contentType ?? '', stream)
  if (values instanceof Problem) return badRequest(values)
  if (!Array.isArray(values)) return values
  const streamSeq = request.header('stream-seq')
  const outcome = stream.appendRecords(
    values.map((value) => ({ value })),
    { ...(producer !== null && { producer }), ...(streamSeq !== undefined && { streamSeq }), close },
  )
  return appended(outcome, { stream, producer, close, parts })
}

/** One record a message. Of a stream that is closed already, nobody asks what they would have been. */
function messagesOf(body: Buffer, contentType: string, stream: PathStream): Buffer[] | Refusal | Problem {
  if (!isSameMediaType(contentType, stream.contentType)) {
    return refused('conflict', `the stream is ${stream.contentType}, not ${contentType}`)
  }
  if (modeOf(stream.contentType) !== 'json') return [body]
  const messages = jsonMessages(body)
  if (messages === null) return new Problem('the body is not JSON')
  return messages.length > 0 ? messages : new Problem('an append has a message, [] has none')
}

interface Appending {
  readonly stream: PathStream
  readonly producer: HttpProducerStamp | null
  readonly close: boolean
  readonly parts: DurableStreamsParts
}

async function appended(outcome: AppendRecordsOutcome, { stream, producer, close, parts }: Appending): Promise<Answer> {
  if (outcome.kind === 'refused') return refusal(outcome.why, producer)
  await outcome.committed
  if (outcome.kind === 'duplicate') return duplicate(outcome, stream, producer)
  const { baseOffset, nextOffset } = outcome
  if (modeOf(stream.contentType) === 'json') parts.knownJson.add(stream, baseOffset, nextOffset)
  const headers = { ...nextHeader(nextOffset), ...closedHeader(close) }
  return producer === null ? done(204, headers) : done(200, { ...headers, ...echo(producer.epoch, producer.sequence) })
}

/** Of a request without a body. */
async function closed(outcome: CloseOutcome, stream: PathStream, producer: HttpProducerStamp | null): Promise<Answer> {
  if (outcome.kind === 'refused') return refusal(outcome.why, producer)
  if (outcome.kind === 'duplicate') {
    await outcome.committed
    return duplicate(outcome, stream, producer)
  }
  const headers = { ...nextHeader(outcome.nextOffset), ...closedHeader(true) }
  return done(204, { ...headers, ...(producer !== null && echo(producer.epoch, producer.sequence)) })
}

function duplicate(
  { of, lastSequence, closed: isClosing }: Extract<CloseOutcome, { kind: 'duplicate' }>,
  stream: PathStream,
  producer: HttpProducerStamp | null,
): Answer {
  return done(204, {
    ...nextHeader(of?.nextOffset ?? stream.highWatermark),
    ...closedHeader(isClosing),
    ...(producer !== null && echo(producer.epoch, lastSequence)),
  })
}

function refusal(why: RecordsRefusal, producer: HttpProducerStamp | null): Answer {
  switch (why.kind) {
    case 'closed':
      return refused('closed', 'the stream is closed', { ...nextHeader(why.nextOffset), ...closedHeader(true) })
    case 'old-epoch':
      return refused('fenced', `the producer is at epoch ${why.currentEpoch}`, {
        'Producer-Epoch': String(why.currentEpoch),
      })
    case 'epoch-not-from-zero':
      return refused('bad_request', 'a new epoch begins with Producer-Seq 0')
    case 'sequence-gap':
      return refused('sequence_gap', `Producer-Seq ${why.expectedSequence} is to come first`, {
        'Producer-Expected-Seq': String(why.expectedSequence),
        'Producer-Received-Seq': String(producer?.sequence),
      })
    case 'stream-seq':
      return refused('conflict', `Stream-Seq has to come after ${JSON.stringify(why.lastStreamSeq)}, byte by byte`)
    case 'match-failed':
      return refused('match_failed', `the tail is at ${offsetToken(recordStart(why.nextOffset))}`)
    case 'too-large':
      return refused('too_large', why.message)
    case 'invalid-record':
      return refused('invalid_record', `message ${why.index}: ${why.message}`)
    case 'not-serving':
      return refused('unavailable', 'the stream is being deleted or moved', { 'Retry-After': '1' })
  }
}

function nextHeader(nextOffset: number): AnswerHeaders {
  return { 'Stream-Next-Offset': offsetToken(recordStart(nextOffset)) }
}

function closedHeader(isClosed: boolean): AnswerHeaders {
  return isClosed ? { 'Stream-Closed': 'true' } : {}
}

function echo(epoch: number, sequence: number): AnswerHeaders {
  return { 'Producer-Epoch': String(epoch), 'Producer-Seq': String(sequence) }
}
