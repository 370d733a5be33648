import { picoHeaders } from '@pico/http-contract'
import type { Exchange } from '../server/exchange.ts'
import { badRequest } from '../server/http-error.ts'
import { openedStream } from './addressed-stream.ts'
import type { PicoParts } from './pico-parts.ts'

/** `Pico-Trim-Seq`: drops the records below; what is below the start already changes nothing. */
export async function trim(exchange: Exchange, parts: PicoParts, name: string, trimSeq: number): Promise<void> {
  const stream = await openedStream(exchange, parts.paths, name, parts.settings.routing)
  const startSeq = await stream.trim(trimSeq)
  if (startSeq === 'out-of-range') throw badRequest(`the stream ends at ${stream.highWatermark}`)
  exchange.respond(200, [picoHeaders.startSeq, String(startSeq), picoHeaders.nextSeq, String(stream.highWatermark)])
}
