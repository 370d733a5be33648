import { picoHeaders } from '@pico/http-contract'
import type { PathStream } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { type Page, restOfPage } from './read-page.ts'
import type { RecordEncoder } from './record-encoders.ts'

/** The page as the body of an answer: at once where it is one chunk, else as fast as the client reads. */
export async function sendPage(
  exchange: Exchange,
  stream: PathStream,
  page: Page,
  encoder: RecordEncoder,
  headers: readonly string[],
): Promise<void> {
  const all = ['Content-Type', encoder.contentType ?? stream.contentType, ...headers]
  if (page.encodedTo >= page.next) exchange.respond(200, all, page.head)
  else await exchange.stream(200, all, wholePage(stream, page, encoder))
}

async function* wholePage(stream: PathStream, page: Page, encoder: RecordEncoder): AsyncGenerator<Buffer> {
  yield page.head
  yield* restOfPage(stream, page, encoder)
}

/** Where to read on, and what that means. */
export function pageHeaders(stream: PathStream, next: number): string[] {
  const isTail = next >= stream.highWatermark
  return [
    picoHeaders.nextSeq,
    String(next),
    ...(isTail ? [picoHeaders.upToDate, 'true'] : []),
    ...(isTail && stream.closed ? [picoHeaders.closed, 'true'] : []),
  ]
}
