import { type AppendHeaders, appendHeadersSchema } from '@pico/http-contract'
import type { RecordInput } from '@pico/record-batch'
import type { AppendRecordsOutcome, AppendTerms, PathStream } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, HttpError, unavailable } from '../server/http-error.ts'
import { openedStream, writableStreamNameOf } from './addressed-stream.ts'
import { answerAppended, answerClosed } from './append-answer.ts'
import { recordsOfBody } from './append-body.ts'
import { refusedAppend } from './append-refusal.ts'
import type { PicoParts } from './pico-parts.ts'
import { recordValues } from './record-values.ts'
import { headersOf } from './request-values.ts'
import { trim } from './trim.ts'

/*
 * POST /{stream}: appends the records of the body, all of them in one batch or none; seals the stream, with or without records; or
 * trims it. An append to a stream that is open is handed over in the turn in which its body is complete, without a promise in
 * between: requests are appended in the order in which they arrive. Where records are held to a schema, it takes its place among those
 * that wait to be judged in that turn, and so keeps the order too.
 */

const headerNames = [
  'pico-producer-id',
  'pico-producer-epoch',
  'pico-producer-seq',
  'pico-match-seq',
  'pico-closed',
  'pico-trim-seq',
] as const

export function append(exchange: Exchange, parts: PicoParts): void {
  exchange.route = 'append'
  const name = writableStreamNameOf(exchange)
  const headers = headersGiven(exchange)
  exchange.receiveBody((body) => {
    try {
      if (body instanceof HttpError) throw body
      const trimSeq = headers?.['pico-trim-seq']
      if (trimSeq === undefined) {
        appendBody({ exchange, parts, name, terms: headers === null ? plainTerms : termsOf(headers) }, body)
      } else {
        if (body.length > 0) throw badRequest('a trim has no body')
        trim(exchange, parts, name, trimSeq).catch((error) => exchange.fail(error))
      }
    } catch (error) {
      exchange.fail(error)
    }
  })
}

interface Append {
  readonly exchange: Exchange
  readonly parts: PicoParts
  readonly name: string
  readonly terms: AppendTerms
}

function appendBody(append: Append, body: Buffer): void {
  const { exchange, parts, name } = append
  const stream = openedStream(exchange, parts.paths, name, parts.settings.routing)
  // The body is ours until we return.
  if (stream instanceof Promise) appendOnceOpen(append, Buffer.from(body), stream)
  else if (stream.isJudged) appendJudged(append, Buffer.from(body), stream)
  else if (!appendTo(stream, append, recordsOf(append, body))) appendOnceOpen(append, Buffer.from(body))
}

/** Once more where the stream is not served any more: there may be a new one, here or elsewhere. */
function appendJudged(append: Append, body: Buffer, stream: PathStream): void {
  judgedAppend(stream, append, recordsOf(append, body))
    .then((isTaken) => isTaken || appendOnceOpen(append, body))
    .catch((error) => append.exchange.fail(error))
}

/** Also where the stream that we had is not served any more: there may be a new one, here or elsewhere. */
function appendOnceOpen(append: Append, body: Buffer, opening?: Promise<PathStream>): void {
  const { exchange, parts, name, terms } = append
  const reopened = async () => openedStream(exchange, parts.paths, name, parts.settings.routing)
  const appending = (opening ?? reopened()).then(async (stream) => {
    const records = recordsOf(append, body)
    const isTaken = stream.isJudged ? await judgedAppend(stream, append, records) : appendTo(stream, append, records)
    if (!isTaken) throw refusedAppend({ kind: 'not-serving' }, terms.producer)
  })
  appending.catch((error) => exchange.fail(error))
}

/** Views of the body. @throws HttpError 400 */
function recordsOf({ exchange, terms }: Append, body: Buffer): readonly RecordInput[] {
  const records = recordsOfBody(body, exchange.request.headers['content-type'])
  if (records.length === 0) {
    if (terms.close !== true) throw badRequest('an append has a body')
    if (terms.matchOffset !== undefined) throw badRequest('Pico-Match-Seq goes with records')
  }
  return records
}

/** False if the stream is not served any more. */
function appendTo(stream: PathStream, { exchange, terms }: Append, records: readonly RecordInput[]): boolean {
  if (records.length === 0) {
    stream.closeNow(terms.producer).then(
      (outcome) => answerClosed(exchange, stream, terms, outcome),
      (error) => exchange.fail(error),
    )
    return true
  }
  return answer(stream.appendRecords(records, terms), stream, { exchange, terms })
}

/** As `appendTo`, when the records have been judged. They last as long. */
async function judgedAppend(stream: PathStream, append: Append, records: readonly RecordInput[]): Promise<boolean> {
  const { exchange, parts, terms } = append
  if (records.length === 0) return appendTo(stream, append, records)
  if (!stream.hasJudgingRoom) throw unavailable('too many records wait to be judged by the schema of the stream')
  const values = recordValues(records)
  const outcome = await stream.judged(
    values.reduce((sum, value) => sum + (value?.length ?? 0), 0),
    (schema) => parts.schemas.judgeValues(schema, values),
    (judgement) => stream.appendRecords(records, { ...terms, judgement }),
  )
  return answer(outcome, stream, { exchange, terms })
}

/** False if the stream is not served any more. @throws HttpError */
function answer(
  outcome: AppendRecordsOutcome,
  stream: PathStream,
  { exchange, terms }: Pick<Append, 'exchange' | 'terms'>,
) {
  if (outcome.kind === 'refused') {
    if (outcome.why.kind === 'not-serving') return false
    throw refusedAppend(outcome.why, terms.producer)
  }
  outcome.committed.then(
    () => answerAppended(exchange, stream, terms, outcome),
    (error) => exchange.fail(error),
  )
  return true
}

/** Null: none of them, as most requests have. @throws HttpError 400 */
function headersGiven(exchange: Exchange): AppendHeaders | null {
  const { headers } = exchange.request
  for (const name of headerNames) {
    if (headers[name] !== undefined) return headersOf(appendHeadersSchema, headerNames, exchange)
  }
  return null
}

const plainTerms: AppendTerms = {}

function termsOf(headers: AppendHeaders): AppendTerms {
  const id = headers['pico-producer-id']
  const epoch = headers['pico-producer-epoch']
  const sequence = headers['pico-producer-seq']
  const matchOffset = headers['pico-match-seq']
  // The schema lets all three through, or none.
  const isProducer = id !== undefined && epoch !== undefined && sequence !== undefined
  return {
    ...(isProducer && { producer: { id, epoch, sequence, counts: 'records' } }),
    ...(matchOffset !== undefined && { matchOffset }),
    ...(headers['pico-closed'] === true && { close: true }),
  }
}
