import type { Clock, LogStream } from '@pico/log'
import { FencedError, type Metadata, type NodeIdentity } from '@pico/metadata'
import { compactByKey, type KeyCompactionSettings } from './key-compaction.ts'
import type { Membership } from './membership.ts'
import type { TopicConfig } from './topic-config.ts'

export interface CompactedStream {
  readonly stream: LogStream
  readonly config: TopicConfig
}

export interface KeyCompactorParts {
  readonly metadata: Metadata
  readonly node: NodeIdentity
  readonly membership: Membership
  readonly clock: Clock
  readonly onProblem: (message: string, error: unknown) => void
  /** The open streams whose topics have the policy "compact", as of now. */
  readonly opened: () => CompactedStream[]
  /** Opens a stream by its name, whatever comes of it. */
  readonly open: (name: string) => Promise<unknown>
}

/** Streams whose clean part is remembered: of any other, the next pass looks at everything. */
const rememberedMax = 10_000
/** Streams opened in one round at most because they are due. */
const dueMax = 500

/**
 * Compacts the open streams whose topics have the policy "compact", one after the other, in the rounds of the log's maintenance; and
 * those that nobody has open once `max.compaction.lag.ms` says that it is time, which SQL knows.
 */
export class KeyCompactor {
  readonly #parts: KeyCompactorParts
  readonly #settings: KeyCompactionSettings
  readonly #cleanedTo = new Map<number, number>()

  constructor(parts: KeyCompactorParts, settings: KeyCompactionSettings) {
    this.#parts = parts
    this.#settings = settings
  }

  /** A stream that cannot be compacted now does not keep the others from it. @throws FencedError, MetadataUnavailableError */
  async run(signal: AbortSignal): Promise<void> {
    const due = await this.#parts.metadata.streams.compactionDue(
      { node: this.#parts.node, unowned: this.#parts.membership.leads },
      this.#parts.clock.nowMs(),
      dueMax,
    )
    const open = new Set(this.#parts.opened().map(({ stream }) => stream.streamId))
    for (const { streamId, name } of due) {
      if (signal.aborted) return
      if (!open.has(streamId)) await this.#attempt(streamId, signal, () => this.#parts.open(name))
    }
    const overdue = new Set(due.map(({ streamId }) => streamId))
    for (const compacted of this.#parts.opened()) {
      if (signal.aborted) return
      const { streamId } = compacted.stream
      await this.#attempt(streamId, signal, () => this.#compact(compacted, overdue.has(streamId), signal))
    }
  }

  async #compact({ stream, config }: CompactedStream, isOverdue: boolean, signal: AbortSignal): Promise<void> {
    const { metadata, node, clock } = this.#parts
    const { streamId } = stream
    const before = this.#cleanedTo.get(streamId) ?? 0
    const packedEnd = stream.packed.at(-1)?.endOffset ?? 0
    const terms = { config, cleanedTo: before, isOverdue, nowMs: clock.nowMs(), signal }
    const cleanedTo = await compactByKey(stream, terms, this.#settings)
    this.#remember(streamId, cleanedTo)
    // A pass that left something behind leaves it overdue.
    const isNews = isOverdue || (cleanedTo > before && config.maxCompactionLagMs < Number.POSITIVE_INFINITY)
    if (isNews && cleanedTo >= packedEnd) await metadata.streams.recordCompacted(node, streamId, cleanedTo)
  }

  async #attempt(streamId: number, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof FencedError || signal.aborted) throw error
      this.#parts.onProblem(`stream ${streamId} could not be compacted, and will be tried again`, error)
    }
  }

  #remember(streamId: number, cleanedTo: number): void {
    this.#cleanedTo.delete(streamId)
    this.#cleanedTo.set(streamId, cleanedTo)
    for (const oldest of this.#cleanedTo.keys()) {
      if (this.#cleanedTo.size <= rememberedMax) break
      this.#cleanedTo.delete(oldest)
    }
  }
}
