import {
  type BinaryBatchVersion,
  decimalInteger,
  type LiveMode,
  picoHeaders,
  readQuerySchema,
} from '@pico/http-contract'
import type { PathStream } from '@pico/streams'
import type { HttpSettings } from '../http-settings.ts'
import type { Exchange } from '../server/exchange.ts'
import { badRequest, HttpError } from '../server/http-error.ts'
import type { PageLimits } from './read-page.ts'
import { type RecordEncoder, recordEncoder } from './record-encoders.ts'
import { queryOf } from './request-values.ts'

/** What a reader wants. */
export interface ReadRequest {
  /** Null: the earliest record. */
  readonly seq: number | 'now' | null
  readonly limits: PageLimits
  readonly encoder: RecordEncoder
  readonly live: LiveMode | undefined
  readonly cursor: string | null
}

/** @throws HttpError 400 */
export function readRequestOf(exchange: Exchange, settings: HttpSettings): ReadRequest {
  const query = queryOf(readQuerySchema, exchange)
  if (query.live === 'sse' && query.format !== 'json') throw badRequest('format: events are JSON')
  return {
    seq: query.seq ?? lastEventId(exchange),
    limits: {
      bytesMax: Math.min(query.bytes ?? settings.readBytesDefault, settings.readBytesMax),
      countMax: query.count ?? Number.MAX_SAFE_INTEGER,
      isGiven: query.bytes !== undefined || query.count !== undefined,
    },
    encoder: recordEncoder(query.format, Number(query.version) as BinaryBatchVersion),
    live: query.live,
    cursor: query.cursor ?? null,
  }
}

/** Events have the next sequence number as their id. Whatever else a browser may have as its last event's id is not ours. */
function lastEventId(exchange: Exchange): number | null {
  const given = exchange.header('last-event-id')
  if (given === undefined || given === '') return null
  const parsed = decimalInteger.safeParse(given)
  if (!parsed.success) throw badRequest('Last-Event-ID is no sequence number')
  return parsed.data
}

/** Where reading begins: at the tail for what lies beyond it. @throws HttpError 410 below the start */
export function positionOf(stream: PathStream, seq: ReadRequest['seq']): number {
  const { startOffset, highWatermark } = stream
  if (seq === null) return startOffset
  if (seq === 'now' || seq > highWatermark) return highWatermark
  if (seq >= startOffset) return seq
  throw new HttpError('out_of_range', `the stream begins at ${startOffset}`, {
    headers: [picoHeaders.startSeq, String(startOffset)],
  })
}
