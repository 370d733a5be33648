import { isReservedName, streamNameOfPath } from '@pico/http-contract'
import { elsewhere } from '../pico/addressed-stream.ts'
import type { Exchange } from '../server/exchange.ts'
import { HttpError } from '../server/http-error.ts'
import type { HttpService } from '../server/http-server.ts'
import type { HttpRoute } from '../server/observer.ts'
import { type Answer, type AnswerHeaders, refused } from './answer.ts'
import { append } from './append.ts'
import { durableStreamsCors } from './cors-rules.ts'
import { create } from './create.ts'
import { deleteStream } from './delete.ts'
import { describe } from './describe.ts'
import { EventFeed } from './event-feed.ts'
import { KnownJson } from './known-json.ts'
import { read } from './read.ts'
import type { DurableRequest, DurableStreamsComponents, DurableStreamsParts } from './request.ts'
import { type DurableStreamsSettings, defaultDurableStreamsSettings } from './settings.ts'
import { SharedChunks } from './shared-chunks.ts'

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
  given: Partial<DurableStreamsSettings> = {},
): HttpService {
  const settings = { ...defaultDurableStreamsSettings, ...given }
  const knownJson = new KnownJson()
  const sharedChunks = new SharedChunks(knownJson, settings.eventBytes)
  const parts: DurableStreamsParts = { ...components, knownJson, sharedChunks, settings }
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
  respond(exchange, answer, parts)
}

/** `/__ds` is the protocol's own, for subscriptions, which we do not have. */
function refuseName(name: string, { writes }: Operation): Answer | null {
  if (name === '/__ds' || name.startsWith('/__ds/')) return refused('not_found', 'there are no subscriptions here')
  return writes && isReservedName(name) ? refused('forbidden', 'that name is reserved') : null
}

async function durableRequest(exchange: Exchange, name: string): Promise<DurableRequest> {
  return {
    name,
    url: exchange.url,
    header: (header) => exchange.header(header),
    get query() {
      return new URLSearchParams(exchange.queryText)
    },
    body: operations[exchange.method]?.hasBody ? await exchange.body() : noBody,
    whenOver: (callback) => whenOver(exchange, callback),
  }
}

const noBody = Buffer.alloc(0)

function whenOver(exchange: Exchange, callback: () => void): () => void {
  let isWanted = true
  const once = () => {
    if (isWanted) callback()
    isWanted = false
  }
  const ignoreDraining = exchange.onDraining(once)
  exchange.onClose(() => {
    ignoreDraining()
    once()
  })
  if (exchange.isDraining || exchange.isGone) once()
  return () => {
    isWanted = false
    ignoreDraining()
  }
}

function respond(exchange: Exchange, answer: Answer, parts: DurableStreamsParts): void {
  switch (answer.kind) {
    case 'done':
      exchange.respond(answer.status, listOf(answer.headers), answer.body ?? noBody)
      break
    case 'events':
      new EventFeed(exchange, answer.following, parts).start(listOf(answer.headers), answer.following.first)
      break
    case 'refused': {
      const { code, message, headers, status, problems } = answer
      throw new HttpError(code, message, {
        headers: listOf(headers),
        ...(status !== undefined && { status }),
        ...(problems !== undefined && { problems }),
      })
    }
    case 'not-owner':
      throw elsewhere(exchange, answer, parts.settings.routing)
  }
}

function listOf(headers: AnswerHeaders): string[] {
  return Object.entries(headers).flat()
}
