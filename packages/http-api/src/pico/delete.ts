import type { Exchange } from '../server/exchange.ts'
import { missed, writableStreamNameOf } from './addressed-stream.ts'
import type { PicoParts } from './pico-parts.ts'

/** DELETE /{stream}: the name is free at once. */
export async function deleteStream(exchange: Exchange, { paths, settings }: PicoParts): Promise<void> {
  exchange.route = 'delete'
  const outcome = await paths.delete(writableStreamNameOf(exchange))
  if (outcome !== 'deleted') throw missed(exchange, outcome, settings.routing)
  exchange.respond(204, [])
}
