import assert from 'node:assert'
import { type ControlEvent, eventNames, mediaTypes } from '@pico/http-contract'
import type { PartitionChange, PathStream } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { watchForEvents } from '../server/live-events.ts'
import type { PicoParts } from './pico-parts.ts'
import type { Page } from './read-page.ts'
import { jsonRecords } from './record-encoders.ts'

/**
 * `live=sse`: events as records come, until the stream ends, the time is up or the client goes. A client that does not read is sent
 * nothing more until it has: it costs what the connection's buffers hold, and then nothing but a position.
 */
export class EventFeed {
  readonly #exchange: Exchange
  readonly #parts: PicoParts
  readonly #stream: PathStream
  /** What follows has not been sent. */
  #position: number
  /** The client has not been told that it is at the tail. */
  #owesControl = true
  #isSending = false
  #stop: (() => void) | null = null

  constructor(exchange: Exchange, parts: PicoParts, stream: PathStream, from: number) {
    this.#exchange = exchange
    this.#parts = parts
    this.#stream = stream
    this.#position = from
  }

  start(): void {
    const exchange = this.#exchange
    // Buffering proxies (nginx) are asked to pass events on at once.
    const headers = ['Content-Type', mediaTypes.eventStream, 'Cache-Control', 'no-cache', 'X-Accel-Buffering', 'no']
    exchange.begin(200, headers)
    const stop = watchForEvents(exchange, this.#stream, this.#parts, {
      changed: (change) => this.#changed(change),
      over: () => this.#end(),
    })
    this.#stop = () => {
      this.#stop = null
      stop()
    }
    exchange.onClose(() => this.#stop?.())
    if (exchange.isDraining) this.#end()
    else this.#send()
  }

  #changed(change: PartitionChange): void {
    // A client that connects again is told what became of the stream.
    if (change === 'advanced') this.#send()
    else this.#end()
  }

  #send(): void {
    if (this.#isSending) return
    this.#isSending = true
    this.#sendAll().catch((error: unknown) => {
      this.#stop?.()
      this.#exchange.fail(error)
    })
  }

  /** All there is, as fast as the client takes it. */
  async #sendAll(): Promise<void> {
    const stream = this.#stream
    while (this.#stop !== null) {
      let isEnd = stream.closed
      if (this.#position < stream.highWatermark) {
        const page = await this.#parts.sharedPages.read(stream, this.#position, jsonRecords)
        // Otherwise this would go on for ever.
        assert(page.next > this.#position, 'there is something below the high watermark')
        this.#position = page.next
        const isTail = page.next >= stream.highWatermark
        this.#owesControl = !isTail
        isEnd = isTail && stream.closed
        this.#write(dataEvent(page, isTail, isEnd))
      } else if (this.#owesControl || isEnd) {
        this.#owesControl = false
        this.#write(controlEvent(this.#position, isEnd))
      } else {
        // Not a turn later: a change in between would wake nobody.
        this.#isSending = false
        return
      }
      if (this.#exchange.response.writableNeedDrain) await this.#exchange.drained()
      // Once the last event is out, or it would be cut off.
      if (isEnd) this.#end()
    }
  }

  #write(event: Buffer): void {
    if (!this.#exchange.isGone) this.#exchange.response.write(event)
  }

  #end(): void {
    if (this.#stop === null) return
    this.#stop()
    const { response } = this.#exchange
    // Who has not read what was sent before will not read this either.
    if (response.writableNeedDrain) response.destroy()
    else response.end()
  }
}

/** What was made of a page: of one that ends at the tail, with the control event that says so. */
interface EncodedEvent {
  readonly isTail: boolean
  readonly isEnd: boolean
  readonly bytes: Buffer
}

const encodedEvents = new WeakMap<Page, EncodedEvent>()

/** Made once for all who are sent this page. */
function dataEvent(page: Page, isTail: boolean, isEnd: boolean): Buffer {
  const known = encodedEvents.get(page)
  if (known?.isTail === isTail && known.isEnd === isEnd) return known.bytes
  const head = Buffer.from(`event: ${eventNames.data}\nid: ${page.next}\ndata:`)
  const bytes = Buffer.concat([head, page.head, eventEnd, ...(isTail ? [controlEvent(page.next, isEnd)] : [])])
  encodedEvents.set(page, { isTail, isEnd, bytes })
  return bytes
}

const eventEnd = Buffer.from('\n\n')

function controlEvent(next: number, isClosed: boolean): Buffer {
  const control: ControlEvent = { next_seq: next, up_to_date: true, ...(isClosed && { closed: true }) }
  return Buffer.from(`event: ${eventNames.control}\nid: ${next}\ndata:${JSON.stringify(control)}\n\n`)
}
