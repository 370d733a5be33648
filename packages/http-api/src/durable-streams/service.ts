import { isReservedName, streamNameOfPath } from '@pico/http-contract'
import { elsewhere } from '../pico/addressed-stream.ts'
import type { Exchange } from '../server/exchange.ts'
import { HttpError } from '../server/http-error.ts'
import type { HttpService } from '../server/http-server.ts'
import type { HttpRoute } from '../server/observer.ts'
import { type Answer, type AnswerHeaders, type Done, refused } from './answer.ts'
import { append } from './append.ts'
import { durableStreamsCors } from './cors-rules.ts'
import { create } from './create.ts'
import { deleteStream } from './delete.ts'
import { describe } from './describe.ts'
import { KnownJson } from './known-json.ts'
import { read } from './read.ts'
import type { DurableRequest, DurableStreamsComponents, DurableStreamsParts } from './request.ts'
import { type DurableStreamsSettings, defaultDurableStreamsSettings } from './settings.ts'

interface Operation {
  readonly route: HttpRoute
  readonly answer: (request: DurableRequest, parts: DurableStreamsParts) => Promise<Answer>
  readonly hasBody: boolean
  readonly writes: boolean
}

const operations: Readonly<Record<string, Operation>> = {
  PUT: { route: 'create', answer: create, hasBody: true, writes: true },
  POST: { route: 'append', answer: append, hasBody: true, writes: true },
  GET: { route: 'read', answer: read, hasBody: false, writes: false },
  HEAD: { route: 'head', answer: describe, hasBody: false, writes: false },
  DELETE: { route: 'delete', answer: deleteStream, hasBody: false, writes: true },
}

/** The Durable Streams protocol: every path is the name of a stream. See DURABLE-STREAMS.md. */
export function durableStreamsService(
  components: DurableStreamsComponents,
  settings: Partial<DurableStreamsSettings> = {},
): HttpService {
  const parts: DurableStreamsParts = {
    ...components,
    knownJson: new KnownJson(),
    settings: { ...defaultDurableStreamsSettings, ...settings },
  }
  return { cors: durableStreamsCors, serve: (exchange) => serve(exchange, parts) }
}

async function serve(exchange: Exchange, parts: DurableStreamsParts): Promise<void> {
  const operation = operations[exchange.method]
  if (operation === undefined) {
    throw new HttpError('method_not_allowed', `there is no ${exchange.method}`, {
      headers: ['Allow', durableStreamsCors.methods],
    })
  }
  exchange.route = operation.route
  const { name, problem } = streamNameOfPath(exchange.path)
  if (problem !== undefined) throw new HttpError('bad_request', problem)
  const answer = refuseName(name, operation) ?? (await operation.answer(await durableRequest(exchange, name), parts))
  await respond(exchange, answer, parts)
}

/** `/__ds` is the protocol's own, for subscriptions, which we do not have. */
function refuseName(name: string, { writes }: Operation): Answer | null {
  if (name === '/__ds' || name.startsWith('/__ds/')) return refused('not_found', 'there are no subscriptions here')
  return writes && isReservedName(name) ? refused('forbidden', 'that name is reserved') : null
}

async function durableRequest(exchange: Exchange, name: string): Promise<DurableRequest> {
  const body = operations[exchange.method]?.hasBody ? await exchange.body() : noBody
  // Most appends ask for none of these.
  const gone = new LazySignal((abort) => {
    exchange.onClose(abort)
    if (exchange.isGone) abort()
  })
  const waitOver = new LazySignal((abort) => {
    gone.signal.addEventListener('abort', exchange.onDraining(abort))
    gone.signal.addEventListener('abort', abort)
    if (exchange.isDraining || exchange.isGone) abort()
  })
  return {
    name,
    body,
    url: exchange.url,
    header: (header) => exchange.header(header),
    get query() {
      return new URLSearchParams(exchange.queryText)
    },
    get gone() {
      return gone.signal
    },
    get waitOver() {
      return waitOver.signal
    },
  }
}

const noBody = Buffer.alloc(0)

/** Made, and connected to what aborts it, when somebody asks for it. */
class LazySignal {
  readonly #connect: (abort: () => void) => void
  #signal: AbortSignal | undefined

  constructor(connect: (abort: () => void) => void) {
    this.#connect = connect
  }

  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal
    const controller = new AbortController()
    this.#signal = controller.signal
    this.#connect(() => controller.abort())
    return controller.signal
  }
}

async function respond(exchange: Exchange, answer: Answer, parts: DurableStreamsParts): Promise<void> {
  switch (answer.kind) {
    case 'done':
      return respondDone(exchange, answer, parts)
    case 'refused': {
      const { code, message, headers, status } = answer
      throw new HttpError(code, message, { headers: listOf(headers), ...(status !== undefined && { status }) })
    }
    case 'not-owner':
      throw elsewhere(exchange, answer, parts.settings.routing)
  }
}

async function respondDone(
  exchange: Exchange,
  { status, headers, body }: Done,
  { clock, settings, observer }: DurableStreamsParts,
): Promise<void> {
  if (body === null || body instanceof Uint8Array) return exchange.respond(status, listOf(headers), body ?? noBody)
  // A reader that takes nothing any more does not let the events end by themselves.
  const cancel = clock.after(settings.sseMaxDurationMs + settings.sseGraceMs, () => exchange.response.destroy())
  observer.liveReaderOpened('sse')
  try {
    await exchange.stream(status, listOf(headers), body)
  } finally {
    observer.liveReaderClosed('sse')
    cancel()
  }
}

function listOf(headers: AnswerHeaders): string[] {
  return Object.entries(headers).flat()
}
