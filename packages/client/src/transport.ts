import type { Dispatcher } from 'undici'
import { textHeader } from './answer-headers.ts'
import { answerError, failureError } from './call-failures.ts'
import { type ConnectionSettings, laneCount, OriginConnections, type Sharing } from './connections.ts'
import { PicoError } from './errors.ts'
import { pause, RetrySchedule, type RetrySettings } from './retry-schedule.ts'

export interface TransportSettings extends ConnectionSettings {
  /** `http://127.0.0.1:4437`; a path in it comes before every stream's. */
  readonly endpoint: string
  /** Sent as a bearer token to the endpoint, and to whatever server it redirects to: the owners of streams in its cluster. */
  readonly token: string | null
  readonly retry: RetrySettings
  /** For the head of an answer, and for every next piece of its body. */
  readonly answerTimeoutMs: number
}

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Encoded, from the root of the endpoint. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Whose owner is remembered when the server redirects. */
  readonly stream: string | null
  readonly sharing: Sharing
  /** Doing it twice is the same as doing it once. If not, it is repeated only when nothing can have been done. */
  readonly repeatable: boolean
  readonly signal: AbortSignal | undefined
  /** Instead of the transport's. */
  readonly answerTimeoutMs?: number
  /** Told of a failure before it is asked again. */
  readonly onRetry?: (failure: PicoError) => void
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Dispatcher.ResponseData['body']
}

/** Longer than a server parks a long poll, or is silent within an event stream. */
export const liveAnswerTimeoutMs = 90_000

const redirectsMax = 5
/** Streams whose owner is remembered; a forgotten one costs a redirect. */
const ownersMax = 10_000

/** Requests to a cluster: each goes to the server that has the stream, again where that is safe. */
export class Transport {
  readonly #settings: TransportSettings
  readonly #endpointOrigin: string
  readonly #prefix: string
  readonly #origins = new Map<string, OriginConnections>()
  readonly #owners = new Map<string, string>()
  #lanes = 0
  #closed = false

  constructor(settings: TransportSettings) {
    this.#settings = settings
    const endpoint = URL.parse(settings.endpoint)
    if (endpoint === null || !/^https?:$/.test(endpoint.protocol))
      throw new PicoError('bad_request', `${JSON.stringify(settings.endpoint)} is not an http: or https: URL`)
    this.#endpointOrigin = endpoint.origin // computed anew each time it is asked for
    this.#prefix = endpoint.pathname.replace(/\/$/, '')
  }

  get retry(): RetrySettings {
    return this.#settings.retry
  }

  /** For a producer to stay in. */
  nextLane(): number {
    this.#lanes = (this.#lanes + 1) % laneCount
    return this.#lanes
  }

  /** Where the endpoint's path ends, and those of streams begin. */
  get prefix(): string {
    return this.#prefix
  }

  /**
   * What `read` makes of an answer of 2xx or 304. It must read the body to its end; a body that breaks off counts as no answer.
   * @throws PicoError for all else
   */
  async call<T>(call: Call, read: (answer: Answer) => Promise<T> | T): Promise<T> {
    const schedule = new RetrySchedule(this.#settings.retry)
    for (;;) {
      try {
        return await this.#attempt(call, read)
      } catch (error) {
        if (!(error instanceof PicoError) || !error.retriable) throw error
        if (!call.repeatable && error.written !== 'no') throw error
        const delayMs = schedule.nextDelayMs(error.retryAfterMs)
        if (delayMs === null) throw error
        call.onRetry?.(error)
        await pause(delayMs, call.signal)
      }
    }
  }

  /** As `call`, without trying again, and without looking at the body. */
  async once(call: Call): Promise<Answer> {
    const search = call.query === undefined ? '' : searchOf(call.query)
    let origin = this.#owner(call.stream)
    let path = `${this.#prefix}${call.path}${search}`
    for (let hops = 0; hops <= redirectsMax; hops++) {
      const answer = await this.#send(origin, path, call)
      if (answer.statusCode !== 307 && answer.statusCode !== 308)
        return { status: answer.statusCode, headers: answer.headers, body: answer.body }
      await answer.body.dump()
      const given = textHeader(answer.headers, 'location')
      const location = given === null ? null : URL.parse(given, `${origin}${path}`)
      if (location === null || !/^https?:$/.test(location.protocol))
        throw new PicoError('redirect_loop', `${origin} redirects to nowhere`, { status: answer.statusCode })
      origin = location.origin
      path = `${location.pathname}${location.search}`
      this.#remember(call.stream, origin)
    }
    this.#forget(call.stream)
    throw new PicoError('redirect_loop', `${call.method} ${call.path} was redirected ${redirectsMax} times`, {
      retriable: true, // while a stream moves, two servers may each point at the other
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#origins.values()].map((connections) => connections.destroy()))
  }

  async #attempt<T>(call: Call, read: (answer: Answer) => Promise<T> | T): Promise<T> {
    const answer = await this.once(call)
    try {
      return await read(answer)
    } catch (cause) {
      call.signal?.throwIfAborted()
      throw cause instanceof PicoError ? cause : failureError(cause, `${call.method} ${call.path}`)
    }
  }

  /** One request to one server. 2xx, 304 and redirects come back, all else is thrown. */
  async #send(origin: string, path: string, call: Call): Promise<Dispatcher.ResponseData> {
    call.signal?.throwIfAborted()
    if (this.#closed) throw new PicoError('client_closed', 'the client is closed')
    const timeoutMs = call.answerTimeoutMs ?? this.#settings.answerTimeoutMs
    const { token } = this.#settings
    let answer: Dispatcher.ResponseData
    try {
      answer = await this.#connectionsTo(origin).request(call.sharing, {
        method: call.method,
        path,
        headers: { ...call.headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
        body: call.body ?? null,
        signal: call.signal ?? null,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      })
    } catch (cause) {
      call.signal?.throwIfAborted()
      if (this.#closed) throw new PicoError('client_closed', 'the client was closed', { written: 'maybe', cause })
      this.#forget(call.stream)
      throw failureError(cause, `${call.method} ${origin}${path}`)
    }
    const { statusCode } = answer
    if ((statusCode >= 200 && statusCode < 300) || [304, 307, 308].includes(statusCode)) return answer
    const error = await answerError(answer, `${call.method} ${path}`, call.signal)
    if (error.retriable || error.code === 'not_owner' || error.code === 'not_found') this.#forget(call.stream)
    throw error
  }

  #connectionsTo(origin: string): OriginConnections {
    let connections = this.#origins.get(origin)
    if (connections === undefined) {
      connections = new OriginConnections(origin, this.#settings)
      this.#origins.set(origin, connections)
    }
    return connections
  }

  #owner(stream: string | null): string {
    return (stream === null ? undefined : this.#owners.get(stream)) ?? this.#endpointOrigin
  }

  #remember(stream: string | null, origin: string): void {
    if (stream === null) return
    this.#owners.delete(stream)
    if (origin === this.#endpointOrigin) return
    this.#owners.set(stream, origin)
    const [oldest] = this.#owners.keys()
    if (this.#owners.size > ownersMax && oldest !== undefined) this.#owners.delete(oldest)
  }

  #forget(stream: string | null): void {
    if (stream !== null) this.#owners.delete(stream)
  }
}

/** A stream that is gone when it is asked a second time was deleted by the first. */
export async function deleteOnce(transport: Transport, call: Call): Promise<void> {
  let maybeDone = false
  const onRetry = ({ written }: PicoError) => {
    maybeDone ||= written === 'maybe'
  }
  try {
    await transport.call({ ...call, onRetry }, ({ body }) => body.dump())
  } catch (error) {
    if (!(error instanceof PicoError && error.code === 'not_found' && maybeDone)) throw error
  }
}

function searchOf(query: NonNullable<Call['query']>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}
