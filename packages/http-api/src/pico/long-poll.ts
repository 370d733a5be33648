import { picoHeaders } from '@pico/http-contract'
import type { PartitionChange, PathStream } from '@pico/streams'
import { nextCursor } from '../durable-streams/cursor.ts'
import type { Exchange } from '../server/exchange.ts'
import { keepTouching } from '../server/keep-touching.ts'
import { missed } from './addressed-stream.ts'
import type { PicoParts } from './pico-parts.ts'
import { readPage } from './read-page.ts'
import type { ReadRequest } from './read-request.ts'
import { pageHeaders, sendPage } from './send-page.ts'

/** `live=long-poll`: answers as soon as there is a record, or with 204 when none has come in time or none can come any more. */
export class LongPoll {
  readonly #exchange: Exchange
  readonly #parts: PicoParts
  readonly #stream: PathStream
  readonly #from: number
  readonly #request: ReadRequest
  #stopWaiting: (() => void) | null = null

  constructor(exchange: Exchange, parts: PicoParts, stream: PathStream, from: number, request: ReadRequest) {
    this.#exchange = exchange
    this.#parts = parts
    this.#stream = stream
    this.#from = from
    this.#request = request
  }

  async start(): Promise<void> {
    if (this.#hasRecords) await this.#answerRecords()
    else if (this.#stream.closed || this.#exchange.isDraining) this.#answerNothing()
    else this.#wait()
  }

  get #hasRecords(): boolean {
    return this.#stream.highWatermark > this.#from
  }

  #wait(): void {
    const { clock, observer, settings } = this.#parts
    const unwatch = this.#stream.watch((change) => this.#changed(change))
    const cancelTimeout = clock.after(settings.longPollTimeoutMs, () => this.#answerNothing())
    const ignoreDraining = this.#exchange.onDraining(() => this.#answerNothing())
    const stopTouching = keepTouching(this.#stream, clock)
    this.#exchange.beginsToWait()
    observer.liveReaderOpened('long-poll')
    this.#stopWaiting = () => {
      this.#stopWaiting = null
      unwatch()
      cancelTimeout()
      ignoreDraining()
      stopTouching()
      observer.liveReaderClosed('long-poll')
    }
    this.#exchange.onClose(() => this.#stopWaiting?.())
  }

  #changed(change: PartitionChange): void {
    if (change !== 'advanced') {
      this.#stopWaiting?.()
      this.#lookUpAgain(change).catch((error) => this.#exchange.fail(error))
    } else if (this.#hasRecords) {
      this.#stopWaiting?.()
      this.#answerRecords().catch((error) => this.#exchange.fail(error))
    } else if (this.#stream.closed) {
      this.#answerNothing()
    }
  }

  /** The first page from the position on: for those that wait at the same one, the same. */
  async #answerRecords(): Promise<void> {
    const { encoder, limits } = this.#request
    const stream = this.#stream
    const page =
      limits.isGiven === true
        ? await readPage(stream, this.#from, limits, encoder)
        : await this.#parts.sharedPages.read(stream, this.#from, encoder)
    const headers = [...pageHeaders(stream, page.next), ...this.#liveHeaders()]
    await sendPage(this.#exchange, stream, page, encoder, headers)
  }

  #answerNothing(): void {
    this.#stopWaiting?.()
    this.#exchange.respond(204, [...pageHeaders(this.#stream, this.#from), ...this.#liveHeaders()])
  }

  /** The stream is not here any more: says where it is, or that it is nowhere. */
  async #lookUpAgain(change: 'deleted' | 'lost'): Promise<void> {
    const { paths, settings } = this.#parts
    const found = change === 'deleted' ? 'missing' : await paths.open(this.#stream.name)
    if (typeof found === 'string' || 'kind' in found) throw missed(this.#exchange, found, settings.routing)
    // It came back: the client asks again.
    this.#answerNothing()
  }

  #liveHeaders(): string[] {
    const { clock, random } = this.#parts
    const cursor = nextCursor(this.#request.cursor, clock.nowMs(), random)
    return [picoHeaders.cursor, cursor, 'Cache-Control', 'no-store']
  }
}
