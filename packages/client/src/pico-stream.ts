import {
  decodeReadBatch,
  encodeAppendBatch,
  type LiveMode,
  mediaTypes,
  pathOfStreamName,
  picoHeaders,
  rfc3339Of,
} from '@pico/http-contract'
import { neededNumber, neededText, numberHeader, textHeader, trueHeader } from './answer-headers.ts'
import { PicoError } from './errors.ts'
import { follow, type PageOf } from './follow.ts'
import { eventPages } from './pico-events.ts'
import { type PicoProducer, picoProducer } from './pico-producer.ts'
import type { ProducerSettings } from './producer-settings.ts'
import { appendRecordOf, type RecordInput, StreamRecord } from './record.ts'
import { canonicalName } from './stream-name.ts'
import { type Answer, type Call, deleteOnce, liveAnswerTimeoutMs, type Transport } from './transport.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface CreateOptions extends CallOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string
  /** Seconds that records are kept. Not together with `expiresAt`. */
  readonly ttlSeconds?: number
  /** When the stream itself ends. */
  readonly expiresAt?: Date
  /** Makes it sealed. */
  readonly closed?: boolean
  /** Schema that all records are held to, `name:version`; a name alone means its newest version now. 'unknown_schema' if there is none. */
  readonly schema?: string
}

export interface StreamHead {
  readonly name: string
  readonly contentType: string
  /** Of the earliest record kept. */
  readonly startSeq: number
  /** Of the record that comes next. */
  readonly nextSeq: number
  readonly closed: boolean
  readonly ttlSeconds: number | null
  readonly expiresAt: Date | null
  /** That it is bound to, as `name:version`. */
  readonly schema: string | null
}

export interface AppendOptions extends CallOptions {
  /** Only if this is the next sequence number; else 'match_failed', with the real one as `nextSeq`. */
  readonly matchSeq?: number
  /** Seals the stream with these records. */
  readonly close?: boolean
}

export interface Appended {
  readonly startSeq: number
  readonly nextSeq: number
  /** Of the first record, as the server keeps it. */
  readonly timestampMs: number
}

/** 'earliest': whatever was trimmed. 'now': only what comes after. A number that was trimmed is 'out_of_range'. */
export type From = number | 'earliest' | 'now'

export interface ReadOptions extends CallOptions {
  /** Default 'earliest'. */
  readonly from?: From
  /** Records at most. */
  readonly count?: number
  /** Bytes at most; the first record comes whatever its size. */
  readonly bytes?: number
}

export interface FollowOptions extends ReadOptions {
  /** How to wait at the tail. Null: end there. */
  readonly live?: LiveMode | null
}

export interface Page extends PageOf<number> {
  readonly records: readonly StreamRecord[]
}

/** One stream by the Pico protocol. Making it asks the server nothing. */
export class PicoStream {
  readonly name: string
  readonly #transport: Transport
  readonly #path: string

  /** @throws PicoError 'bad_request' for what no stream can be called */
  constructor(transport: Transport, name: string) {
    this.name = canonicalName(name)
    this.#path = pathOfStreamName(this.name)
    this.#transport = transport
  }

  /**
   * `created` is false when it was there already; after a lost answer also when it was made by the attempt before.
   * @throws PicoError 'conflict' when there is one of another content type, or not held to that schema
   */
  async create(options: CreateOptions = {}): Promise<{ readonly created: boolean }> {
    const { contentType, ttlSeconds, expiresAt, closed, schema } = options
    const headers = {
      'Content-Type': contentType ?? mediaTypes.octetStream,
      ...(ttlSeconds === undefined ? {} : { [picoHeaders.ttl]: String(ttlSeconds) }),
      ...(expiresAt === undefined ? {} : { [picoHeaders.expiresAt]: rfc3339Of(expiresAt.getTime()) }),
      ...(closed === true ? { [picoHeaders.closed]: 'true' } : {}),
      ...(schema === undefined ? {} : { [picoHeaders.schema]: schema }),
    }
    const call = this.#call({ method: 'PUT', headers, repeatable: true, signal: options.signal })
    return this.#transport.call(call, async ({ status, body }) => {
      await body.dump()
      return { created: status === 201 }
    })
  }

  async head(options: CallOptions = {}): Promise<StreamHead> {
    const call = this.#call({ method: 'HEAD', repeatable: true, signal: options.signal })
    return this.#transport.call(call, async ({ headers, body }) => {
      await body.dump()
      const expiresAt = textHeader(headers, 'pico-expires-at')
      return {
        name: this.name,
        contentType: neededText(headers, 'content-type'),
        startSeq: neededNumber(headers, 'pico-start-seq'),
        nextSeq: neededNumber(headers, 'pico-next-seq'),
        closed: trueHeader(headers, 'pico-closed'),
        ttlSeconds: numberHeader(headers, 'pico-ttl'),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
        schema: textHeader(headers, 'pico-schema'),
      }
    })
  }

  append(record: RecordInput, options: AppendOptions = {}): Promise<Appended> {
    return this.appendAll([record], options)
  }

  /**
   * All of them, one after the other, or none. Tried again only where nothing can have been written: a failure with `written` 'maybe'
   * leaves that open. A producer has no such doubt.
   */
  async appendAll(records: Iterable<RecordInput>, options: AppendOptions = {}): Promise<Appended> {
    const batch = Array.from(records, appendRecordOf)
    if (batch.length === 0) throw new PicoError('bad_request', 'there is no record to append')
    return this.#append(encodeAppendBatch(batch), options)
  }

  /** Reads once: as much as the server gives in one answer. Empty at the tail. */
  read(options: ReadOptions = {}): Promise<Page> {
    return this.#read(options.from ?? 'earliest', options, false, options.signal)
  }

  /** Record by record, up to the tail as it is when it gets there. */
  records(options: ReadOptions = {}): AsyncGenerator<StreamRecord, void, undefined> {
    return recordsOf(this.pages({ ...options, live: null }))
  }

  /** Record by record, and then each as it comes, until the stream is closed. Begins at 'now' unless told otherwise. */
  tail(options: FollowOptions = {}): AsyncGenerator<StreamRecord, void, undefined> {
    return recordsOf(this.pages({ from: 'now', live: 'long-poll', ...options }))
  }

  /** As `records`, or with `live` as `tail`, by the answer. After a lost connection it goes on where the last page ended. */
  async *pages(options: FollowOptions = {}): AsyncGenerator<Page, void, undefined> {
    const { from = 'earliest', live = null, signal } = options
    // A 'now' that had to be asked again would be a later one.
    const start = from === 'now' ? (await this.head(options)).nextSeq : from
    const source = {
      read: async (at: From, waits: boolean, until: AbortSignal) => {
        const page = await this.#read(at, options, waits, until)
        return live === null ? page : notBefore(at, page)
      },
      events: async function* (this: PicoStream, at: From, until: AbortSignal) {
        for await (const page of this.#events(at, until)) yield notBefore(at, page)
      }.bind(this),
    }
    yield* follow<From, Page>(source, start, { live, retry: this.#transport.retry, signal })
  }

  /** Seals it: nothing is appended any more. Again: the same. Returns the sequence number that no record will have. */
  close(options: CallOptions = {}): Promise<{ readonly nextSeq: number }> {
    const headers = { [picoHeaders.closed]: 'true' }
    const call = this.#call({ method: 'POST', headers, repeatable: true, signal: options.signal })
    return this.#transport.call(call, async ({ headers, body }) => {
      await body.dump()
      return { nextSeq: neededNumber(headers, 'pico-next-seq') }
    })
  }

  /** Drops the records below `seq`. Returns the earliest one left. */
  trim(seq: number, options: CallOptions = {}): Promise<{ readonly startSeq: number }> {
    const headers = { [picoHeaders.trimSeq]: String(seq) }
    const call = this.#call({ method: 'POST', headers, repeatable: true, signal: options.signal })
    return this.#transport.call(call, async ({ headers, body }) => {
      await body.dump()
      return { startSeq: neededNumber(headers, 'pico-start-seq') }
    })
  }

  /** @throws PicoError 'not_found' */
  delete(options: CallOptions = {}): Promise<void> {
    return deleteOnce(this.#transport, this.#call({ method: 'DELETE', repeatable: true, signal: options.signal }))
  }

  /** Appends records each exactly once, batched, through lost connections and restarts. */
  producer(settings: ProducerSettings = {}): PicoProducer {
    return picoProducer(this.#transport, this.name, settings)
  }

  #call(call: Pick<Call, 'method' | 'repeatable' | 'signal'> & Partial<Call>): Call {
    const read = call.method === 'GET' || call.method === 'HEAD'
    return {
      path: this.#path,
      stream: this.name,
      sharing: { kind: read ? 'read' : 'alone' },
      ...call,
    }
  }

  #append(body: Uint8Array, options: AppendOptions): Promise<Appended> {
    const headers = {
      'Content-Type': mediaTypes.batch,
      ...(options.matchSeq === undefined ? {} : { [picoHeaders.matchSeq]: String(options.matchSeq) }),
      ...(options.close === true ? { [picoHeaders.closed]: 'true' } : {}),
    }
    const call = this.#call({ method: 'POST', headers, body, repeatable: false, signal: options.signal })
    return this.#transport.call(call, async ({ headers, body }) => {
      await body.dump()
      return {
        startSeq: neededNumber(headers, 'pico-start-seq'),
        nextSeq: neededNumber(headers, 'pico-next-seq'),
        timestampMs: neededNumber(headers, 'pico-timestamp'),
      }
    })
  }

  async #read(from: From, limits: ReadOptions, waits: boolean, signal: AbortSignal | undefined): Promise<Page> {
    const { count, bytes } = limits
    const query = {
      seq: seqOf(from),
      count,
      bytes,
      format: 'binary',
      version: 2,
      ...(waits ? { live: 'long-poll' } : {}),
    }
    const call = this.#call({
      method: 'GET',
      query,
      repeatable: true,
      signal,
      ...(waits ? { answerTimeoutMs: liveAnswerTimeoutMs } : {}),
    })
    try {
      return await this.#transport.call(call, pageOf)
    } catch (error) {
      const start = earliestAfter(error, from)
      if (start === null) throw error
      return this.#read(start, limits, waits, signal)
    }
  }

  async *#events(from: From, signal: AbortSignal): AsyncGenerator<Page, void, undefined> {
    const call = this.#call({
      method: 'GET',
      query: { seq: seqOf(from), live: 'sse' },
      repeatable: true,
      signal,
      answerTimeoutMs: liveAnswerTimeoutMs,
    })
    yield* eventPages(await this.#transport.once(call), call)
  }
}

async function* recordsOf(pages: AsyncIterable<Page>): AsyncGenerator<StreamRecord, void, undefined> {
  for await (const page of pages) yield* page.records
}

function seqOf(from: From): number | string | undefined {
  return from === 'earliest' ? undefined : from
}

/** @throws PicoError 'out_of_range' when the stream ends before the place: it was deleted, and made anew */
function notBefore(from: From, page: Page): Page {
  if (typeof from !== 'number' || page.next >= from) return page
  throw new PicoError('out_of_range', `the stream ends at ${page.next}, before ${from}: it is another one`, {
    nextSeq: page.next,
  })
}

/** Where 'earliest' is, when the server says that it is no longer at the beginning; null for other failures. */
function earliestAfter(error: unknown, from: From): number | null {
  if (from !== 'earliest' || !(error instanceof PicoError) || error.code !== 'out_of_range') return null
  return error.startSeq
}

/** 204 is a long poll that nothing came to. */
async function pageOf({ headers, body }: Answer): Promise<Page> {
  const bytes = await body.bytes()
  const { records = [], problem } = bytes.length === 0 ? { records: [] } : decodeReadBatch(bytes)
  if (problem !== undefined) throw new PicoError('bad_response', `the records that came: ${problem}`)
  return {
    records: records.map((record) => new StreamRecord(record)),
    next: neededNumber(headers, 'pico-next-seq'),
    upToDate: trueHeader(headers, 'pico-up-to-date'),
    closed: trueHeader(headers, 'pico-closed'),
    empty: records.length === 0,
  }
}
