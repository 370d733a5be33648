import { mediaTypes } from '@pico/http-contract'
import type { CreateStreamOutcome, NewPathStream, StreamDescription, StreamExpiry } from '@pico/streams'
import { type Answer, badRequest, done, missed, refused } from './answer.ts'
import { type ForkRequest, parseFork } from './fork-headers.ts'
import { isForkAsked, type ResolvedFork, resolveFork } from './fork-point.ts'
import { jsonMessages } from './json-messages.ts'
import { isSameLifetime, lifetimeHeaders, parseLifetime } from './lifetime.ts'
import { givenContentType, isSameMediaType, modeOf } from './media-type.ts'
import { offsetToken, recordStart } from './offset-token.ts'
import { Problem } from './problem.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'
import { isTrue } from './stream-closed.ts'

/** What a PUT asks for; null where it leaves that open. */
interface Wanted {
  readonly name: string
  readonly contentType: string | null
  readonly expiry: StreamExpiry | null
  readonly closed: boolean
  readonly fork: ForkRequest | null
  readonly body: Buffer
}

/** PUT: makes the stream, with what the body holds; or finds it there as asked for, which leaves it as it is. */
export async function create(request: DurableRequest, parts: DurableStreamsParts): Promise<Answer> {
  const wanted = parseCreate(request)
  if (wanted instanceof Problem) return badRequest(wanted)
  if (wanted.fork === null) {
    const newStream = newStreamOf(wanted, null)
    return newStream instanceof Problem
      ? badRequest(newStream)
      : created(await parts.streams.create(newStream), request)
  }
  // A fork that is there is known by what was asked for then: its source may have grown since, or be gone.
  const existing = await parts.streams.describe(wanted.name)
  if (existing === 'gone') return taken('the stream was deleted, and its forks live on')
  if (existing !== 'missing') {
    if ('kind' in existing) return missed(existing)
    return isAsWanted(existing, wanted) ? answerOf(200, existing) : taken('there is another stream of that name')
  }
  const fork = await resolveFork(wanted.fork, parts)
  if ('answer' in fork) return fork.answer
  const newStream = newStreamOf(wanted, fork)
  if (newStream instanceof Problem) return badRequest(newStream)
  if (!isSameMediaType(newStream.contentType, fork.source.contentType)) {
    return taken(`the source is ${fork.source.contentType}, and so are its forks`)
  }
  return created(await parts.streams.create(newStream), request)
}

function parseCreate(request: DurableRequest): Wanted | Problem {
  const expiry = parseLifetime(request.header('stream-ttl'), request.header('stream-expires-at'))
  if (expiry instanceof Problem) return expiry
  const fork = parseFork({
    source: request.header('stream-forked-from'),
    offset: request.header('stream-fork-offset'),
    subOffset: request.header('stream-fork-sub-offset'),
  })
  if (fork instanceof Problem) return fork
  const given = givenContentType(request.header('content-type'))
  return {
    name: request.name,
    contentType: fork === null ? (given ?? mediaTypes.octetStream) : given,
    expiry,
    closed: isTrue(request.header('stream-closed')),
    fork,
    body: request.body,
  }
}

function newStreamOf(wanted: Wanted, fork: ResolvedFork | null): NewPathStream | Problem {
  const contentType = wanted.contentType ?? fork?.source.contentType ?? mediaTypes.octetStream
  const values = valuesOf(wanted.body, contentType)
  if (values instanceof Problem) return values
  const partial = fork?.partial ?? null
  return {
    name: wanted.name,
    contentType,
    config: {},
    expiry: wanted.expiry ?? fork?.source.expiry ?? { kind: 'never' },
    closed: wanted.closed,
    records: [...(partial === null ? [] : [partial]), ...values].map((value) => ({ value })),
    ...(fork !== null && { fork: fork.point }),
    matches: (existing) => isAsWanted(existing, wanted),
  }
}

function valuesOf(body: Buffer, contentType: string): readonly Buffer[] | Problem {
  if (body.length === 0) return []
  if (modeOf(contentType) !== 'json') return [body]
  return jsonMessages(body) ?? new Problem('the body is not JSON')
}

/** Of a fork, type and lifetime count only where the request says them: it has its source's otherwise. */
function isAsWanted(existing: StreamDescription, wanted: Wanted): boolean {
  const { contentType, expiry, closed, fork } = wanted
  if (contentType !== null && !isSameMediaType(contentType, existing.contentType)) return false
  const expected = expiry ?? (fork === null ? { kind: 'never' as const } : null)
  if (expected !== null && !isSameLifetime(expected, existing.expiry)) return false
  if (closed !== existing.closed) return false
  return fork === null ? existing.fork === null : isForkAsked(fork, existing)
}

function created(outcome: CreateStreamOutcome, request: DurableRequest): Answer {
  switch (outcome.kind) {
    case 'created':
      return answerOf(201, outcome.stream, { Location: request.url })
    case 'exists':
      return answerOf(200, outcome.stream)
    case 'conflict':
      return taken(outcome.message)
    case 'invalid':
      return refused('bad_request', outcome.message)
    case 'source-missing':
      return refused('not_found', 'there is no such source')
    case 'source-gone':
      return taken('the source was deleted')
    case 'fork-beyond-tail':
      return refused('bad_request', 'Stream-Fork-Offset is beyond the tail of the source')
    case 'fork-below-start':
      return refused('out_of_range', 'Stream-Fork-Offset is before what the source still has')
    case 'unknown-schema':
    case 'breaks-schema':
      // Of what a request binds, and this protocol has no word for that.
      throw new Error(`creating a stream came to ${outcome.kind}`)
    case 'not-owner':
      return outcome
  }
}

function answerOf(status: number, stream: StreamDescription, headers: Record<string, string> = {}): Answer {
  return done(status, { ...headers, ...descriptionHeaders(stream) })
}

/** What PUT and HEAD tell of a stream. */
export function descriptionHeaders(stream: StreamDescription): Record<string, string> {
  return {
    'Content-Type': stream.contentType,
    'Stream-Next-Offset': offsetToken(recordStart(stream.nextOffset)),
    ...lifetimeHeaders(stream.expiry),
    ...(stream.closed && { 'Stream-Closed': 'true' }),
  }
}

function taken(message: string): Answer {
  return refused('conflict', message)
}
