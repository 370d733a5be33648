import { strict as assert } from 'node:assert'
import { type Metadata, MetadataUnavailableError, type NodeIdentity, type StreamRecord } from '@pico/metadata'
import { producerKey } from './http-producer-state.ts'
import type { HttpProducerStamp } from './path-streams.ts'
import { type ClosingMark, type ClosingStamp, never, theStream } from './stream-facts.ts'
import type { StreamTail } from './stream-tail.ts'

export interface ClosingParts {
  readonly metadata: Metadata
  readonly node: NodeIdentity
}

/**
 * Whether a stream is closed. Closing with an append is in the log, as durable as the batch, and its row follows; closing without one is
 * in the row alone. From the moment that either has begun nothing else is appended, unless it fails.
 */
export class StreamClosing {
  readonly #tail: StreamTail
  readonly #metadata: Metadata
  readonly #node: NodeIdentity
  /** What the row says, as far as is known. */
  #row: { readonly by: ClosingStamp | null } | null
  /** The row is being closed without an append: nothing is appended meanwhile. */
  #underWay: Promise<unknown> | null = null
  /** The answer of a closing was lost: nobody knows what the row says. */
  #isUnknown = false
  #recording: Promise<void> | null = null
  #findingOut: Promise<void> | null = null

  constructor(tail: StreamTail, record: StreamRecord, { metadata, node }: ClosingParts) {
    this.#tail = tail
    this.#metadata = metadata
    this.#node = node
    this.#row = record.isClosed ? { by: parseStamp(record.closedBy) } : null
  }

  /** Durably. */
  get isClosed(): boolean {
    return this.#row !== null || this.#tail.known.closing.durable(theStream, 0) !== undefined
  }

  /** Closed, or about to be. */
  get refusesAppends(): boolean {
    return this.#underWay !== null || this.#isUnknown || this.isEnding
  }

  /** Closed, or about to be by an append in flight. */
  get isEnding(): boolean {
    return this.#row !== null || this.#tail.known.closing.get(theStream, 0) !== undefined
  }

  get isUnknown(): boolean {
    return this.#isUnknown
  }

  /** Does the row say what the log says? */
  get isRecorded(): boolean {
    return this.#row !== null || this.#tail.known.closing.durable(theStream, 0) === undefined
  }

  /** Is that what closed it, or is about to? */
  isBy(producer: HttpProducerStamp): boolean {
    const by = this.#row?.by ?? this.#tail.known.closing.get(theStream, 0)?.by ?? null
    return (
      by !== null &&
      by.producerKey === producerKey(producer) &&
      by.epoch === producer.epoch &&
      by.sequence === producer.sequence
    )
  }

  /** It was made closed, by the same statement that revealed it. */
  wasCreatedClosed(): void {
    this.#row = { by: null }
  }

  /** Closes the row after the log: at once where it says so already. Rejects when the closing append does, or the database fails. */
  async recorded(): Promise<void> {
    await this.#tail.known.closing.fateOfLatest(theStream)
    if (this.isRecorded) return
    this.#recording ??= this.#record().finally(() => {
      this.#recording = null
    })
    await this.#recording
  }

  /**
   * Closes without an append, once what is in flight is settled. `isStillRight` is asked then, for what was in flight may have failed.
   * False when it said no, or the stream is gone.
   */
  closeRow(by: HttpProducerStamp | null, isStillRight: () => boolean): Promise<boolean> {
    assert(!this.refusesAppends, 'a stream is closed once')
    const closing = this.#settleAndClose(by, isStillRight).finally(() => {
      this.#underWay = null
    })
    this.#underWay = closing
    return closing
  }

  /** Resolves when a closing without an append, if there is one under way, is over: well or not. */
  async underWay(): Promise<void> {
    await this.#underWay?.catch(() => undefined) // whoever asked for it is told
  }

  /** Asks the row what became of a closing whose answer was lost; those who ask meanwhile share the question. */
  async findOut(): Promise<void> {
    if (!this.#isUnknown) return
    this.#findingOut ??= this.#readRow().finally(() => {
      this.#findingOut = null
    })
    await this.#findingOut
  }

  /** The same for whoever is refused until it is known, and does not wait. */
  findOutSoon(): void {
    this.findOut().catch(() => undefined) // whoever is refused next asks again
  }

  async #settleAndClose(by: HttpProducerStamp | null, isStillRight: () => boolean): Promise<boolean> {
    await this.#tail.settled()
    if (!isStillRight()) return false
    const stamp = stampOf(by ?? undefined)
    try {
      if (!(await this.#closeRow(stamp))) return false
    } catch (error) {
      this.#isUnknown = error instanceof MetadataUnavailableError
      throw error
    }
    this.#row = { by: stamp }
    return true
  }

  async #readRow(): Promise<void> {
    const [record] = await this.#metadata.streams.byStreamId([this.#tail.stream.streamId])
    if (record?.isClosed) this.#row = { by: parseStamp(record.closedBy) }
    this.#isUnknown = false
  }

  async #record(): Promise<void> {
    const by = this.#tail.known.closing.durable(theStream, 0)?.by ?? null
    await this.#closeRow(by)
    // The row may be gone by now, and nobody asks any more then.
    this.#row = { by }
  }

  #closeRow(by: ClosingStamp | null): Promise<boolean> {
    return this.#metadata.streams.close(this.#node, this.#tail.stream.streamId, closedByText(by))
  }
}

export function closingMark(producer: HttpProducerStamp | undefined): ClosingMark {
  return { by: stampOf(producer), expiresAtMs: never }
}

/** As the row has it. */
export function closedByText(by: ClosingStamp | null): string | null {
  return by === null ? null : JSON.stringify(by)
}

function stampOf(producer: HttpProducerStamp | undefined): ClosingStamp | null {
  if (producer === undefined) return null
  return { producerKey: producerKey(producer), epoch: producer.epoch, sequence: producer.sequence }
}

function parseStamp(closedBy: string | null): ClosingStamp | null {
  return closedBy === null ? null : (JSON.parse(closedBy) as ClosingStamp)
}
