import { textHeader } from './answer-headers.ts'
import { DurableChunk } from './durable-chunk.ts'
import { controlFieldsOf } from './durable-control.ts'
import { PicoError } from './errors.ts'
import { eventsOf, type ServerSentEvent } from './event-stream.ts'
import type { Answer, Call } from './transport.ts'

/**
 * The chunks of a `live=sse` answer. A chunk is complete with its control event, which says where it ends: data that none follows is
 * left out, and read again.
 */
export async function* durableEventChunks(
  answer: Answer,
  call: Call,
  isJson: boolean,
): AsyncGenerator<DurableChunk, void, undefined> {
  const isBase64 = textHeader(answer.headers, 'stream-sse-data-encoding') === 'base64'
  let pieces: Uint8Array[] = []
  for await (const event of eventsOf(answer, call)) {
    if (event.event === 'data') pieces.push(bytesOf(event, isBase64))
    if (event.event !== 'control') continue
    const { next, upToDate, closed } = controlFieldsOf(event.data)
    const bytes = isJson ? joinedArrays(pieces) : Buffer.concat(pieces)
    pieces = []
    yield new DurableChunk({ bytes, next, upToDate, closed, isJson })
  }
}

function bytesOf({ data }: ServerSentEvent, isBase64: boolean): Uint8Array {
  return isBase64 ? Buffer.from(data, 'base64') : Buffer.from(data)
}

/** Some servers send several arrays before they say where they end. */
function joinedArrays(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return only
  const inner = pieces.map((piece) => Buffer.from(piece).toString().trim())
  if (inner.some((text) => !text.startsWith('[') || !text.endsWith(']')))
    throw new PicoError('bad_response', 'an event came that is no array of messages')
  const messages = inner.map((text) => text.slice(1, -1)).filter((text) => text.trim() !== '')
  return Buffer.from(`[${messages.join(',')}]`)
}
