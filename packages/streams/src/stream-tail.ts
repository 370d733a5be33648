import { strict as assert } from 'node:assert'
import { AppendFailedError, type Clock, LogClosedError, type LogStream, type NewEntry } from '@pico/log'
import { FencedError } from '@pico/metadata'
import { StreamFacts } from './stream-facts.ts'
import { restoreFacts } from './stream-facts-format.ts'
import { type KnownFacts, nothingKnown, TailFacts } from './tail-facts.ts'

/** A batch that has its offsets. */
export interface StoredBatch {
  readonly baseOffset: number
  /** The log's copy, to be patched at once or never. */
  readonly bytes: Uint8Array
  /** Settles as LogStream's `committed`, but rejects where the stream was deleted meanwhile. */
  readonly committed: Promise<void>
}

/**
 * The end of one stream, where both gates put what they let pass: batches go to the log, and what is known of who wrote them (see
 * StreamFacts) is kept up to date with what is durable, and with what is in flight.
 */
export class StreamTail {
  readonly stream: LogStream
  readonly clock: Clock
  readonly #of: { readonly topic: string; readonly partition: number }
  /** Null while nothing is known. */
  #facts: TailFacts | null
  #lastTimestampMs: number | null = null
  #deleted = false
  /** The log's promise for the last flush appended to, and ours that follows it. */
  #lastFlush: { readonly committed: Promise<void>; readonly ours: Promise<void> } | null = null

  /** @throws ProducerStateUnreadableError */
  constructor(stream: LogStream, clock: Clock, of: { readonly topic: string; readonly partition: number }) {
    const { recoveredState } = stream
    this.#facts = recoveredState === null ? null : new TailFacts(restoreFacts(recoveredState, []))
    this.stream = stream
    this.clock = clock
    this.#of = of
  }

  /** For messages: `orders-0`. */
  get name(): string {
    return `${this.#of.topic}-${this.#of.partition}`
  }

  /** To look at. */
  get known(): KnownFacts {
    return this.#facts ?? nothingKnown
  }

  /** To add to. */
  get facts(): TailFacts {
    this.#facts ??= new TailFacts(new StreamFacts())
    return this.#facts
  }

  get nextOffset(): number {
    return this.stream.nextOffset
  }

  /** The largest timestamp that the stream has, in flight ones counted; -1 for none. */
  get lastTimestampMs(): number {
    this.#lastTimestampMs ??= this.stream.maxTimestampMs()
    return this.#lastTimestampMs
  }

  /** The error when this node does not take anything any more. */
  store(entry: NewEntry): StoredBatch | LogClosedError | FencedError {
    const announcedOffset = this.stream.nextOffset
    const lastTimestampMs = this.lastTimestampMs
    try {
      const { baseOffset, bytes, committed } = this.stream.append(entry)
      assert(baseOffset === announcedOffset, 'the log gives out the offset it announced')
      if (entry.maxTimestampMs > lastTimestampMs) this.#lastTimestampMs = entry.maxTimestampMs
      return { baseOffset, bytes, committed: this.#unlessDeleted(committed) }
    } catch (error) {
      if (error instanceof LogClosedError || error instanceof FencedError) return error
      throw error
    }
  }

  /** Resolves when all that was stored so far is durable, or void. */
  async settled(): Promise<void> {
    // Whoever appended is told what became of it; here it only matters that it is settled.
    await this.#lastFlush?.ours.catch(() => undefined)
  }

  committed(committedOffset: number): void {
    this.#facts?.committed(committedOffset, this.clock.nowMs())
  }

  rolledBack(nextOffset: number): void {
    this.#facts?.rolledBack(nextOffset)
  }

  /** What is still on its way will not be kept: it rejects when its flush is settled. */
  deleted(): void {
    this.#deleted = true
  }

  /** The log settles a flush as a whole, also where one of its streams has been deleted meanwhile. One promise per flush. */
  #unlessDeleted(committed: Promise<void>): Promise<void> {
    if (this.#lastFlush?.committed === committed) return this.#lastFlush.ours
    const ours = committed.then(() => {
      if (this.#lastFlush?.committed === committed) this.#lastFlush = null
      if (this.#deleted) throw new AppendFailedError(`${this.name} was deleted`)
    })
    // Who wants no acknowledgement (acks=0) does not listen; everybody who does is told through the same promise.
    ours.catch(() => undefined)
    this.#lastFlush = { committed, ours }
    return ours
  }
}
