import type { PathStream } from '@pico/streams'
import { isNoneMatchFailed } from '../durable-streams/etag.ts'
import type { Exchange } from '../server/exchange.ts'
import { openedStream, streamNameOf } from './addressed-stream.ts'
import { EventFeed } from './event-feed.ts'
import { LongPoll } from './long-poll.ts'
import type { PicoParts } from './pico-parts.ts'
import { type Page, readPage } from './read-page.ts'
import { positionOf, type ReadRequest, readRequestOf } from './read-request.ts'
import { pageHeaders, sendPage } from './send-page.ts'

/** GET /{stream}: what is there from a position on (catch-up), or that and what comes (live). */
export async function read(exchange: Exchange, parts: PicoParts): Promise<void> {
  exchange.route = 'read'
  const name = streamNameOf(exchange)
  const request = readRequestOf(exchange, parts.settings)
  const stream = await openedStream(exchange, parts.paths, name, parts.settings.routing)
  const from = positionOf(stream, request.seq)
  stream.touch()
  if (request.live === 'sse') new EventFeed(exchange, parts, stream, from).start()
  else if (request.live === 'long-poll') await new LongPoll(exchange, parts, stream, from, request).start()
  else await catchUp(exchange, stream, from, request)
}

async function catchUp(exchange: Exchange, stream: PathStream, from: number, request: ReadRequest): Promise<void> {
  const page = await readPage(stream, from, request.limits, request.encoder)
  const headers = [...pageHeaders(stream, page.next), 'Cache-Control', cacheControl(stream, page, request)]
  if (request.seq !== 'now') {
    const etag = etagOf(stream, page, request)
    headers.push('ETag', etag)
    if (isNoneMatchFailed(exchange.header('if-none-match'), etag)) {
      exchange.respond(304, headers)
      return
    }
  }
  await sendPage(exchange, stream, page, request.encoder, headers)
}

/** What ends before the tail, or at the end of a sealed stream, stays what it is. At the tail there may be more at any moment. */
function cacheControl(stream: PathStream, { next }: Page, { seq }: ReadRequest): string {
  if (seq === 'now' || seq === null) return seq === 'now' ? 'no-store' : 'no-cache'
  const isFinal = next < stream.highWatermark || stream.closed
  return isFinal ? 'public, max-age=60' : 'no-cache'
}

/** Of this life of the name, from where to where, whether that is its end, and in which format. */
function etagOf(stream: PathStream, { from, next }: Page, { encoder }: ReadRequest): string {
  const isEnd = stream.closed && next >= stream.highWatermark
  return `"${stream.incarnation}:${from}:${next}:${encoder.tag}${isEnd ? ':c' : ''}"`
}
