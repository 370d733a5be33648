import type { Clock } from '@pico/log'
import type { Metadata, StreamRecord } from '@pico/metadata'
import type { Membership } from './membership.ts'
import type { OpenPartitions } from './open-partitions.ts'
import type { Placement } from './placement.ts'
import type { Presence } from './presence.ts'
import type { StreamsSettings } from './settings.ts'

export interface StreamSweepParts {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly presence: Presence
  readonly partitions: OpenPartitions
  readonly placement: Placement
  readonly membership: Membership
  readonly remove: (records: readonly StreamRecord[]) => Promise<unknown>
  readonly onProblem: (message: string, error: unknown) => void
}

/** A stream that is still 'creating' after that long was left so by a crash. */
const creatingMsMax = 60_000
/** How often those are looked for: the database walks past every stream that was being made since it was last vacuumed. */
const creatingLookMs = 10_000

/**
 * Deletes streams whose end has come, and what crashes left of streams that were being made. Both count as absent already: what is late
 * here is only the space. Found by indexes that hold nothing else, some at a time.
 */
export class StreamSweep {
  readonly #parts: StreamSweepParts
  readonly #settings: StreamsSettings
  #cancelTimer: (() => void) | null = null
  #running: Promise<void> | null = null
  #isOver = false
  #looksForCreatingAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: StreamSweepParts, settings: StreamsSettings) {
    this.#parts = parts
    this.#settings = settings
  }

  start(): void {
    if (this.#isOver) return
    this.#cancelTimer = this.#parts.clock.after(this.#settings.sweepIntervalMs, () => {
      this.run()
        .catch((error: unknown) => {
          if (!this.#isOver)
            this.#parts.onProblem('expired streams could not be deleted, which will be tried again', error)
        })
        .finally(() => this.start())
    })
  }

  /** One round. Concurrent calls share it. */
  run(): Promise<void> {
    this.#running ??= this.#round().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#cancelTimer?.()
    await this.#running?.catch(() => undefined) // whoever started it was told
  }

  async #round(): Promise<void> {
    const { metadata, clock, presence, partitions, placement, membership, remove } = this.#parts
    const limit = this.#settings.sweptTogetherMax
    while (!this.#isOver) {
      const rows = await metadata.streams.expired(clock.nowMs(), limit)
      // Of a stream that another node has, that one knows whether it was used. What nobody has, one node looks after.
      const isOurs = ({ owner }: StreamRecord) => membership.leads || (owner !== null && placement.isHere(owner))
      const over = rows.filter((row) => isOurs(row) && !presence.isThere(row))
      // The others were used, which SQL is about to hear.
      for (const { streamId } of rows) partitions.opened(streamId)?.storeExpiry()
      if (over.length > 0) await remove(over)
      if (over.length < limit) break
    }
    if (!membership.leads || clock.nowMs() < this.#looksForCreatingAtMs) return
    this.#looksForCreatingAtMs = clock.nowMs() + creatingLookMs
    const left = await metadata.streams.creating({ afterStreamId: 0, limit })
    const abandoned = left.filter(({ createdAtMs }) => createdAtMs <= clock.nowMs() - creatingMsMax)
    if (abandoned.length > 0 && !this.#isOver) await remove(abandoned)
  }
}
