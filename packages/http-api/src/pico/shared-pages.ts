import type { PathStream } from '@pico/streams'
import { type Page, readPage } from './read-page.ts'
import type { RecordEncoder } from './record-encoders.ts'

/** What live readers get at once. */
const liveLimits = { bytesMax: 128 * 1024, countMax: Number.MAX_SAFE_INTEGER, inOneChunk: true }

/**
 * Pages for live readers. Those of a stream are woken together, and most of them stand at the same position: what one of them has
 * read and encoded is the others' too. Kept for one turn of the event loop.
 */
export class SharedPages {
  readonly #pages = new Map<
    PathStream,
    { readonly highWatermark: number; readonly pages: Map<string, Promise<Page>> }
  >()

  read(stream: PathStream, from: number, encoder: RecordEncoder): Promise<Page> {
    const { highWatermark } = stream
    let known = this.#pages.get(stream)
    if (known === undefined || known.highWatermark !== highWatermark) {
      if (this.#pages.size === 0) setImmediate(() => this.#pages.clear())
      known = { highWatermark, pages: new Map() }
      this.#pages.set(stream, known)
    }
    const key = `${from}${encoder.tag}`
    let page = known.pages.get(key)
    if (page === undefined) {
      page = readPage(stream, from, liveLimits, encoder)
      known.pages.set(key, page)
    }
    return page
  }
}
