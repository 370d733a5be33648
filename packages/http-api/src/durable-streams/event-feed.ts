import { strict as assert } from 'node:assert'
import type { PartitionChange, PathStream } from '@pico/streams'
import type { Exchange } from '../server/exchange.ts'
import { watchForEvents } from '../server/live-events.ts'
import { laterCursor, nextCursor } from './cursor.ts'
import { modeOf } from './media-type.ts'
import type { StreamPosition } from './offset-token.ts'
import type { Chunk } from './read-chunk.ts'
import type { DurableStreamsParts } from './request.ts'
import { controlFrame, dataFrame } from './sse-frames.ts'
import { ssePayload } from './sse-payload.ts'

export interface Following {
  readonly stream: PathStream
  /** What the first events tell. */
  readonly first: Chunk
  /** Of the request. */
  readonly cursor: string | null
}

/**
 * `live=sse`: one `data` and one `control` event for each chunk, a control event to begin with when there is no data yet. Ends with the stream, or
 * when the stream or the reader is gone, or when the time is over: then the reader comes back with its last offset. Who does not read is sent nothing
 * more until it has: it costs what the connection's buffers hold, and is cut off when its time is over.
 */
export class EventFeed {
  readonly #exchange: Exchange
  readonly #stream: PathStream
  readonly #parts: DurableStreamsParts
  #cursor: string
  /** Where the next chunk is read from: before `#seenTail` when the end of a text cannot be told yet. */
  #position: StreamPosition
  #seenTail: number
  /** Null before the first control event. */
  #wasUpToDate: boolean | null = null
  #endMs = 0
  #isSending = false
  #stop: (() => void) | null = null

  constructor(exchange: Exchange, { stream, first, cursor }: Following, parts: DurableStreamsParts) {
    this.#exchange = exchange
    this.#stream = stream
    this.#parts = parts
    this.#cursor = nextCursor(cursor, parts.clock.nowMs(), parts.random)
    this.#position = first.from
    this.#seenTail = first.from.record
  }

  start(headers: readonly string[], first: Chunk): void {
    const { clock, settings } = this.#parts
    const exchange = this.#exchange
    this.#endMs = clock.nowMs() + settings.sseMaxDurationMs
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
    this.#tell(first)
    if (exchange.isDraining || exchange.isGone) this.#end()
    else this.#send()
  }

  #changed(change: PartitionChange): void {
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

  /** All there is, as fast as the reader takes it. Says that it is done before anything else can happen: nobody is woken in vain. */
  async #sendAll(): Promise<void> {
    const stream = this.#stream
    await this.#exchange.drained()
    while (this.#stop !== null && (stream.highWatermark > this.#seenTail || stream.closed)) {
      const chunk = await this.#parts.sharedChunks.read(stream, this.#position, this.#seenTail)
      if (typeof chunk === 'string') this.#end()
      else if (this.#stop !== null) {
        // Otherwise this would go on for ever.
        assert(chunk.isEnd || chunk.next.record > this.#seenTail, 'there is something below the high watermark')
        this.#tell(chunk)
      }
      await this.#exchange.drained()
    }
    this.#isSending = false
  }

  #tell(chunk: Chunk): void {
    const { isUpToDate, isEnd } = chunk
    const { frame, next } = encoded(chunk, this.#stream)
    this.#position = next
    this.#seenTail = chunk.next.record
    if (frame !== null || this.#wasUpToDate === null || isEnd || (isUpToDate && !this.#wasUpToDate)) {
      this.#wasUpToDate = isUpToDate
      this.#cursor = laterCursor(this.#cursor, this.#parts.clock.nowMs())
      const control = controlFrame({ next, isUpToDate, isEnd, cursor: this.#cursor })
      if (!this.#exchange.isGone)
        this.#exchange.response.write(frame === null ? control : Buffer.concat([frame, control]))
    }
    if (isEnd) this.#end()
  }

  #end(): void {
    if (this.#stop === null) return
    this.#stop()
    const { response } = this.#exchange
    response.end()
    // What was written may take a while, but not for ever.
    const { clock } = this.#parts
    const leftMs = Math.max(this.#endMs - clock.nowMs(), lastEventsMs)
    this.#exchange.onClose(clock.after(leftMs, () => response.destroy()))
  }
}

/** How long a reader whose time is over may take for what it was sent. */
const lastEventsMs = 2000

interface EncodedChunk {
  readonly frame: Buffer | null
  readonly next: StreamPosition
}

const encodedChunks = new WeakMap<Chunk, EncodedChunk>()

/** Made once for all who are sent this chunk. */
function encoded(chunk: Chunk, { contentType }: PathStream): EncodedChunk {
  let made = encodedChunks.get(chunk)
  if (made === undefined) {
    const { payload, next } = ssePayload(chunk, modeOf(contentType))
    made = { frame: payload === null ? null : dataFrame(payload), next }
    encodedChunks.set(chunk, made)
  }
  return made
}
