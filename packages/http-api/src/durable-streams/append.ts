import type { SchemaJudge } from '@pico/schema-registry'
import type {
  AppendRecordsOutcome,
  AppendTerms,
  CloseOutcome,
  HttpProducerStamp,
  PathStream,
  RecordsRefusal,
} from '@pico/streams'
import {
  type Answer,
  type AnswerHeaders,
  badRequest,
  breaksSchema,
  done,
  missed,
  type Refusal,
  refused,
} from './answer.ts'
import { jsonMessages } from './json-messages.ts'
import type { KnownJson } from './known-json.ts'
import { givenContentType, isSameMediaType, modeOf } from './media-type.ts'
import { offsetToken, recordStart } from './offset-token.ts'
import { Problem } from './problem.ts'
import { parseProducer } from './producer-headers.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'
import { isTrue } from './stream-closed.ts'

/**
 * POST: appends the body, closes the stream, or both in one. What is wrong is looked for in this order: producer headers, an empty body, its
 * type missing, the stream, closed, the type, the producer, `Stream-Seq`, JSON. Nothing is written, and no number is used up, unless all is right.
 * Messages that are no JSON are told before the producer is asked, because the producer is asked by appending; that they are not as the
 * stream's schema wants them comes last.
 */
export async function append(request: DurableRequest, parts: DurableStreamsParts): Promise<Answer> {
  const wanted = parseAppend(request)
  if (wanted instanceof Problem) return badRequest(wanted)
  const { streams } = parts
  // Nothing is awaited when the stream is open: requests are appended in the order they came.
  const opening = streams.open(request.name)
  const stream = opening instanceof Promise ? await opening : opening
  if (typeof stream === 'string' || 'kind' in stream) return missed(stream)
  const answer = await appendTo(stream, wanted, parts)
  if (answer !== 'not-serving') return answer
  // Deleted or moved in between, and maybe made anew.
  const reopened = await streams.open(request.name)
  if (typeof reopened === 'string' || 'kind' in reopened) return missed(reopened)
  const secondAnswer = await appendTo(reopened, wanted, parts)
  if (secondAnswer !== 'not-serving') return secondAnswer
  return refused('unavailable', 'the stream is being deleted or moved', { 'Retry-After': '1' })
}

interface WantedAppend {
  readonly producer: HttpProducerStamp | null
  readonly streamSeq: string | null
  readonly close: boolean
  /** Empty to close without a message. */
  readonly body: Buffer
  readonly contentType: string
}

function parseAppend({ header, body }: DurableRequest): WantedAppend | Problem {
  const producer = parseProducer({
    id: header('producer-id'),
    epoch: header('producer-epoch'),
    seq: header('producer-seq'),
  })
  if (producer instanceof Problem) return producer
  const close = isTrue(header('stream-closed'))
  if (body.length === 0 && !close) return new Problem('an append has a body')
  const contentType = givenContentType(header('content-type'))
  if (body.length > 0 && contentType === null) return new Problem('an append says its Content-Type')
  return { producer, close, body, contentType: contentType ?? '', streamSeq: header('stream-seq') ?? null }
}

interface AppendParts {
  readonly schemas: SchemaJudge
  readonly knownJson: KnownJson
}

async function appendTo(
  stream: PathStream,
  wanted: WantedAppend,
  { schemas, knownJson }: AppendParts,
): Promise<Answer | 'not-serving'> {
  const { producer, streamSeq, close, body, contentType } = wanted
  if (body.length === 0) return closed(await stream.closeNow(producer ?? undefined), stream, producer)
  const values = stream.closed ? [body] : messagesOf(body, contentType, stream)
  if (values instanceof Problem) return badRequest(values)
  if (!Array.isArray(values)) return values
  const terms = { ...(producer !== null && { producer }), ...(streamSeq !== null && { streamSeq }), close }
  if (stream.isJudged && !stream.hasJudgingRoom) return refused('unavailable', tooMuchJudging, { 'Retry-After': '1' })
  const outcome = stream.isJudged
    ? await judgedAppend(stream, values, terms, schemas)
    : stream.appendRecords(recordsOf(values), terms)
  if (outcome.kind === 'refused') return refusal(outcome.why, producer)
  await outcome.committed
  if (outcome.kind === 'duplicate') return duplicate(outcome, stream, producer)
  const { baseOffset, nextOffset } = outcome
  if (modeOf(stream.contentType) === 'json') knownJson.add(stream, baseOffset, nextOffset)
  const headers = { ...nextHeader(nextOffset), ...closedHeader(close) }
  return producer === null ? done(204, headers) : done(200, { ...headers, ...echo(producer.epoch, producer.sequence) })
}

const tooMuchJudging = 'too many records wait to be judged by the schema of the stream'

function judgedAppend(
  stream: PathStream,
  values: readonly Buffer[],
  terms: AppendTerms,
  schemas: SchemaJudge,
): Promise<AppendRecordsOutcome> {
  return stream.judged(
    values.reduce((sum, { length }) => sum + length, 0),
    (schema) => schemas.judgeValues(schema, values),
    (judgement) => stream.appendRecords(recordsOf(values), { ...terms, judgement }),
  )
}

function recordsOf(values: readonly Buffer[]) {
  return values.map((value) => ({ value }))
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

/** Of a request without a body. */
async function closed(
  outcome: CloseOutcome,
  stream: PathStream,
  producer: HttpProducerStamp | null,
): Promise<Answer | 'not-serving'> {
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

function refusal(why: RecordsRefusal, producer: HttpProducerStamp | null): Answer | 'not-serving' {
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
    case 'breaks-schema':
      return breaksSchema(why.judgement)
    case 'not-serving':
      return why.kind
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
