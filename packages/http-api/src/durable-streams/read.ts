import type { PathStream } from '@pico/streams'
import { type Answer, type AnswerHeaders, badRequest, done, missed, refused } from './answer.ts'
import { nextCursor } from './cursor.ts'
import { etagOf, isNoneMatchFailed } from './etag.ts'
import { jsonArrayOf } from './json-values.ts'
import { modeOf } from './media-type.ts'
import { offsetToken } from './offset-token.ts'
import { Problem } from './problem.ts'
import { type Chunk, type ChunkMiss, emptyChunk, readChunk } from './read-chunk.ts'
import { parseReadQuery, type ReadQuery } from './read-query.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'
import { waitForChange } from './wait-for-change.ts'

/** A chunk never changes, but one that ends at the tail is not all there is for long; whoever caches it finds the rest at its end. */
const cacheable = { 'Cache-Control': 'public, max-age=60, stale-while-revalidate=300' }
const notCacheable = { 'Cache-Control': 'no-store' }

interface Reading {
  readonly request: DurableRequest
  readonly query: ReadQuery
  readonly stream: PathStream
  readonly parts: DurableStreamsParts
}

/** GET: what is there, or waits for what comes (`live`). */
export async function read(request: DurableRequest, parts: DurableStreamsParts): Promise<Answer> {
  const query = parseReadQuery(request.query)
  if (query instanceof Problem) return badRequest(query)
  const stream = await parts.streams.open(request.name)
  if (typeof stream === 'string' || 'kind' in stream) return missed(stream)
  stream.touch()
  const reading = { request, query, stream, parts }
  if (query.live === 'sse') return readEvents(reading)
  const chunk = await firstChunk(reading, parts.settings.catchUpBytes)
  if (typeof chunk === 'string') return notThere(chunk)
  if (query.live === 'long-poll') return chunk.pieces.length > 0 ? found(reading, chunk) : waitFor(reading, chunk)
  return query.at === 'now'
    ? done(200, { ...chunkHeaders(stream, chunk), ...notCacheable }, bodyOf(stream, chunk))
    : found(reading, chunk)
}

async function firstChunk(reading: Reading, maxBytes: number): Promise<Chunk | ChunkMiss> {
  const { stream, query, parts } = reading
  return query.at === 'now' ? emptyChunk(stream) : readChunk({ stream, knownJson: parts.knownJson, maxBytes }, query.at)
}

/** 200, or 304 when the client has it. */
function found(reading: Reading, chunk: Chunk): Answer {
  const { request, stream } = reading
  const etag = etagOf(stream.incarnation, chunk.from, chunk.next, chunk.isEnd)
  const headers = { ...chunkHeaders(stream, chunk), ...cursorHeader(reading, chunk), ...cacheable, ETag: etag }
  if (isNoneMatchFailed(request.header('if-none-match'), etag)) return done(304, headers)
  return done(200, headers, bodyOf(stream, chunk))
}

/** A long poll at the tail: 200 with what comes, 204 when nothing does. */
async function waitFor(reading: Reading, atTail: Chunk): Promise<Answer> {
  const { request, query, stream, parts } = reading
  const nothing = (chunk: Chunk) =>
    done(204, { ...withoutType(chunkHeaders(stream, chunk)), ...cursorHeader(reading, chunk), ...notCacheable })
  if (atTail.isEnd) return nothing(atTail)
  parts.observer.liveReaderOpened('long-poll')
  const outcome = await waitForChange(stream, atTail.next.record, {
    clock: parts.clock,
    timeoutMs: parts.settings.longPollTimeoutMs,
    whenOver: request.whenOver,
  })
  parts.observer.liveReaderClosed('long-poll')
  if (outcome === 'deleted') {
    const now = await parts.streams.open(request.name)
    return missed(now === 'gone' ? now : 'missing')
  }
  // Moved away, or we are closing: the next poll finds out where to.
  if (outcome !== 'changed') return nothing(atTail)
  stream.touch()
  const chunk = await parts.sharedChunks.read(stream, atTail.next, atTail.next.record)
  if (typeof chunk === 'string') return notThere(chunk)
  return chunk.pieces.length > 0 ? found({ ...reading, query }, chunk) : nothing(chunk)
}

async function readEvents(reading: Reading): Promise<Answer> {
  const { stream, query, parts } = reading
  const first = await firstChunk(reading, parts.settings.eventBytes)
  if (typeof first === 'string') return notThere(first)
  const encoding = modeOf(stream.contentType) === 'bytes' ? { 'Stream-SSE-Data-Encoding': 'base64' } : {}
  // Proxies that collect answers (nginx) are asked to pass events on at once.
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' }
  return { kind: 'events', headers: { ...headers, ...encoding }, following: { stream, first, cursor: query.cursor } }
}

function notThere(miss: ChunkMiss): Answer {
  if (miss === 'trimmed') return refused('out_of_range', 'what was at that offset is not kept any more')
  return refused('bad_request', 'that is no offset of this stream')
}

function bodyOf({ contentType }: PathStream, { pieces }: Chunk): Uint8Array {
  const [first] = pieces
  const parts = pieces.map(({ bytes }) => bytes)
  if (modeOf(contentType) === 'json') return jsonArrayOf(parts)
  return pieces.length === 1 && first !== undefined ? first.bytes : Buffer.concat(parts)
}

function chunkHeaders({ contentType }: PathStream, { next, isUpToDate, isEnd }: Chunk): AnswerHeaders {
  return {
    'Content-Type': contentType,
    'Stream-Next-Offset': offsetToken(next),
    ...(isUpToDate && { 'Stream-Up-To-Date': 'true' }),
    ...(isEnd && { 'Stream-Closed': 'true' }),
  }
}

/** Of a 204, which has nothing that has a type. */
function withoutType({ 'Content-Type': _, ...headers }: Record<string, string>): AnswerHeaders {
  return headers
}

/** Of live reads that go on. */
function cursorHeader({ query, parts }: Reading, { isEnd }: Chunk): AnswerHeaders {
  if (query.live === null || isEnd) return {}
  return { 'Stream-Cursor': nextCursor(query.cursor, parts.clock.nowMs(), parts.random) }
}
