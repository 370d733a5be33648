import { mediaTypeOf, mediaTypes, pathOfStreamName, rfc3339Of } from '@pico/http-contract'
import { neededText, numberHeader, textHeader, trueHeader } from './answer-headers.ts'
import { DurableChunk } from './durable-chunk.ts'
import { durableEventChunks } from './durable-events.ts'
import { type DurableProducer, durableProducer } from './durable-producer.ts'
import { PicoError } from './errors.ts'
import { follow, type Live } from './follow.ts'
import type { CallOptions } from './pico-stream.ts'
import type { ProducerSettings } from './producer-settings.ts'
import { canonicalName } from './stream-name.ts'
import { type Answer, type Call, deleteOnce, liveAnswerTimeoutMs, type Transport } from './transport.ts'

export interface DurableCreateOptions extends CallOptions {
  /** Default `application/octet-stream`; of a fork, its source's. */
  readonly contentType?: string
  /** The stream ends when nobody has read or written it for so long. Not together with `expiresAt`. */
  readonly ttlSeconds?: number
  readonly expiresAt?: Date
  readonly closed?: boolean
  /** Its first bytes; of a JSON stream, an array of messages as text. */
  readonly content?: string | Uint8Array
  /** Begins with what another stream of the server holds below `offset`, by default all. */
  readonly fork?: { readonly from: string; readonly offset?: string; readonly subOffset?: number }
}

export interface DurableHead {
  readonly name: string
  readonly contentType: string
  readonly nextOffset: string
  readonly closed: boolean
  readonly ttlSeconds: number | null
  readonly expiresAt: Date | null
}

export interface DurableAppendOptions extends CallOptions {
  /** Has to come after the last one that was taken, byte by byte; else 'conflict'. */
  readonly streamSeq?: string
  /** Closes the stream with this append. */
  readonly close?: boolean
}

export interface DurableReadOptions extends CallOptions {
  /** 'earliest', 'now', or a `next` or `nextOffset` that the server gave. Default 'earliest'. */
  readonly from?: string
}

export interface DurableFollowOptions extends DurableReadOptions {
  /** How to wait at the tail. Null: end there. By 'sse', line ends of text streams all become LF. */
  readonly live?: Live | null
}

/**
 * One stream by the Durable Streams protocol: bytes of one content type, without records, keys or sequence numbers, and JSON streams,
 * whose messages are kept apart. Making it asks the server nothing.
 */
export class DurableStream {
  readonly name: string
  readonly #transport: Transport
  /** Every append has to say it. */
  #contentType: string | null = null

  constructor(transport: Transport, name: string) {
    this.name = canonicalName(name)
    this.#transport = transport
  }

  /** @throws PicoError 'conflict' when there is one that was asked for otherwise */
  async create(
    options: DurableCreateOptions = {},
  ): Promise<{ readonly created: boolean; readonly nextOffset: string }> {
    const { contentType, ttlSeconds, expiresAt, closed, content, fork } = options
    const headers = {
      ...(contentType === undefined && fork !== undefined
        ? {}
        : { 'Content-Type': contentType ?? mediaTypes.octetStream }),
      ...(ttlSeconds === undefined ? {} : { 'Stream-TTL': String(ttlSeconds) }),
      ...(expiresAt === undefined ? {} : { 'Stream-Expires-At': rfc3339Of(expiresAt.getTime()) }),
      ...(closed === true ? { 'Stream-Closed': 'true' } : {}),
      ...(fork === undefined ? {} : forkHeaders(fork, this.#transport.prefix)),
    }
    const body = content === undefined ? {} : { body: bytesOf(content) }
    const call = this.#call({ method: 'PUT', headers, ...body, repeatable: true, signal: options.signal })
    return this.#transport.call(call, async ({ status, headers, body }) => {
      await body.dump()
      this.#contentType = textHeader(headers, 'content-type')
      return { created: status === 201, nextOffset: neededText(headers, 'stream-next-offset') }
    })
  }

  async head(options: CallOptions = {}): Promise<DurableHead> {
    const call = this.#call({ method: 'HEAD', repeatable: true, signal: options.signal })
    return this.#transport.call(call, async ({ headers, body }) => {
      await body.dump()
      const expiresAt = textHeader(headers, 'stream-expires-at')
      const contentType = neededText(headers, 'content-type')
      this.#contentType = contentType
      return {
        name: this.name,
        contentType,
        nextOffset: neededText(headers, 'stream-next-offset'),
        closed: trueHeader(headers, 'stream-closed'),
        ttlSeconds: numberHeader(headers, 'stream-ttl'),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      }
    })
  }

  /**
   * Bytes, or text as UTF-8; to a JSON stream one message, or an array of several, as text. Tried again only where nothing can have been
   * written: a failure with `written` 'maybe' leaves that open. A producer has no such doubt.
   */
  async append(
    content: string | Uint8Array,
    options: DurableAppendOptions = {},
  ): Promise<{ readonly nextOffset: string }> {
    const headers = {
      'Content-Type': await this.#type(options),
      ...(options.streamSeq === undefined ? {} : { 'Stream-Seq': options.streamSeq }),
      ...(options.close === true ? { 'Stream-Closed': 'true' } : {}),
    }
    return this.#post({ headers, body: bytesOf(content), repeatable: false, signal: options.signal })
  }

  /** One message of a JSON stream, also when it is an array. */
  appendJson(message: unknown, options: DurableAppendOptions = {}): Promise<{ readonly nextOffset: string }> {
    return this.append(JSON.stringify([message]), options)
  }

  /** Reads once: as much as the server gives in one answer. Empty at the tail. */
  async read(options: DurableReadOptions = {}): Promise<DurableChunk> {
    return this.#read(offsetOf(options.from), null, options.signal)
  }

  /** Chunk by chunk, up to the tail as it is when it gets there; with `live`, and then as it comes, until the stream is closed. */
  async *chunks(options: DurableFollowOptions = {}): AsyncGenerator<DurableChunk, void, undefined> {
    const { from, live = null, signal } = options
    // A 'now' that had to be asked again would be a later one.
    const start = from === 'now' ? (await this.#read('now', null, signal)).next : offsetOf(from)
    let cursor: string | undefined
    const source = {
      read: (at: string, waits: boolean, until: AbortSignal) =>
        this.#read(at, waits ? { cursor, keep: (next) => (cursor = next) } : null, until),
      events: (at: string, until: AbortSignal) => this.#events(at, until),
    } satisfies Parameters<typeof follow<string, DurableChunk>>[0]
    yield* follow<string, DurableChunk>(source, start, { live, retry: this.#transport.retry, signal })
  }

  /** What comes, from 'now' on unless told otherwise. */
  tail(options: DurableFollowOptions = {}): AsyncGenerator<DurableChunk, void, undefined> {
    return this.chunks({ from: 'now', live: 'long-poll', ...options })
  }

  /** Nothing is appended any more. Again: the same. Returns where it ends. */
  close(options: CallOptions = {}): Promise<{ readonly nextOffset: string }> {
    return this.#post({ headers: { 'Stream-Closed': 'true' }, repeatable: true, signal: options.signal })
  }

  /** @throws PicoError 'not_found' */
  delete(options: CallOptions = {}): Promise<void> {
    return deleteOnce(this.#transport, this.#call({ method: 'DELETE', repeatable: true, signal: options.signal }))
  }

  /** Appends pieces, or messages of a JSON stream, each exactly once. */
  async producer(settings: ProducerSettings = {}): Promise<DurableProducer> {
    const contentType = await this.#type(settings)
    return durableProducer(this.#transport, { name: this.name, contentType, isJson: isJson(contentType) }, settings)
  }

  #call(call: Pick<Call, 'method' | 'repeatable' | 'signal'> & Partial<Call>): Call {
    const reads = call.method === 'GET' || call.method === 'HEAD'
    const path = pathOfStreamName(this.name)
    return { path, stream: this.name, sharing: { kind: reads ? 'read' : 'alone' }, ...call }
  }

  #post(
    call: Pick<Call, 'headers' | 'repeatable' | 'signal'> & Partial<Call>,
  ): Promise<{ readonly nextOffset: string }> {
    return this.#transport.call(this.#call({ method: 'POST', ...call }), async ({ headers, body }) => {
      await body.dump()
      return { nextOffset: neededText(headers, 'stream-next-offset') }
    })
  }

  async #type({ signal }: { readonly signal?: AbortSignal }): Promise<string> {
    return this.#contentType ?? (await this.head(signal === undefined ? {} : { signal })).contentType
  }

  #read(offset: string, live: LiveRead | null, signal: AbortSignal | undefined): Promise<DurableChunk> {
    const query = { offset, ...(live === null ? {} : { live: 'long-poll', cursor: live.cursor }) }
    const timeout = live === null ? {} : { answerTimeoutMs: liveAnswerTimeoutMs }
    return this.#transport.call(
      this.#call({ method: 'GET', query, repeatable: true, signal, ...timeout }),
      async ({ status, headers, body }) => {
        const bytes = await body.bytes()
        const cursor = textHeader(headers, 'stream-cursor')
        if (cursor !== null) live?.keep(cursor)
        const closed = trueHeader(headers, 'stream-closed')
        return new DurableChunk({
          bytes,
          next: neededText(headers, 'stream-next-offset'),
          upToDate: closed || trueHeader(headers, 'stream-up-to-date'),
          closed,
          isJson: status !== 204 && isJson(textHeader(headers, 'content-type') ?? ''),
        })
      },
    )
  }

  async *#events(offset: string, signal: AbortSignal): AsyncGenerator<DurableChunk, void, undefined> {
    const contentType = await this.#type({ signal })
    const query = { offset, live: 'sse' }
    const call = this.#call({ method: 'GET', query, repeatable: true, signal, answerTimeoutMs: liveAnswerTimeoutMs })
    const answer: Answer = await this.#transport.once(call)
    yield* durableEventChunks(answer, call, isJson(contentType))
  }
}

interface LiveRead {
  readonly cursor: string | undefined
  readonly keep: (cursor: string) => void
}

function offsetOf(from: string | undefined): string {
  return from === undefined || from === 'earliest' ? '-1' : from
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  if (content.length === 0) throw new PicoError('bad_request', 'there is nothing to append')
  return typeof content === 'string' ? Buffer.from(content) : content
}

function isJson(contentType: string): boolean {
  return mediaTypeOf(contentType) === mediaTypes.json
}

function forkHeaders(fork: NonNullable<DurableCreateOptions['fork']>, prefix: string): Record<string, string> {
  return {
    'Stream-Forked-From': `${prefix}${pathOfStreamName(canonicalName(fork.from))}`,
    ...(fork.offset === undefined ? {} : { 'Stream-Fork-Offset': fork.offset }),
    ...(fork.subOffset === undefined ? {} : { 'Stream-Fork-Sub-Offset': String(fork.subOffset) }),
  }
}
