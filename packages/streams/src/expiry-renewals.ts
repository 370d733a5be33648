import type { Clock } from '@pico/log'
import { type Metadata, MetadataUnavailableError } from '@pico/metadata'

/** At most so many transactions a second, however many streams are used. */
const pauseMs = 50

/** Ends of streams that have been put off, on their way to SQL: together, and the latest of each stream alone. */
export class ExpiryRenewals {
  readonly #metadata: Metadata
  readonly #clock: Clock
  #ends = new Map<number, number>()
  #underWay: ReadonlyMap<number, number> = new Map()
  #writing: Promise<void> | null = null
  #cancelTimer: (() => void) | null = null
  #isOver = false

  constructor(metadata: Metadata, clock: Clock) {
    this.#metadata = metadata
    this.#clock = clock
  }

  put(streamId: number, expiresAtMs: number): void {
    this.#ends.set(streamId, expiresAtMs)
    this.#schedule()
  }

  isPending(streamId: number): boolean {
    return this.#ends.has(streamId) || this.#underWay.has(streamId)
  }

  /** SQL knows of all that was put before. @throws MetadataUnavailableError */
  async flush(): Promise<void> {
    await this.#writing
    await this.#write()
    if (this.#ends.size > 0)
      throw new MetadataUnavailableError('putting off the ends of streams', { cause: 'nobody answered' })
  }

  async close(): Promise<void> {
    this.#isOver = true
    this.#cancelTimer?.()
    await this.#writing
    await this.#write()
  }

  #schedule(): void {
    if (this.#isOver || this.#writing !== null || this.#cancelTimer !== null) return
    this.#cancelTimer = this.#clock.after(pauseMs, () => {
      this.#cancelTimer = null
      this.#writing = this.#write().finally(() => {
        this.#writing = null
        if (this.#ends.size > 0) this.#schedule()
      })
    })
  }

  async #write(): Promise<void> {
    if (this.#ends.size === 0) return
    const ends = this.#ends
    this.#ends = new Map()
    this.#underWay = ends
    try {
      await this.#metadata.streams.renew([...ends].map(([streamId, expiresAtMs]) => ({ streamId, expiresAtMs })))
    } catch (error) {
      if (!(error instanceof MetadataUnavailableError)) throw error
      // What is known here holds here; SQL hears of it as soon as it can be told.
      this.#ends = new Map([...ends, ...this.#ends])
    } finally {
      this.#underWay = new Map()
    }
  }
}
