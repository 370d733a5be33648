import type { Clock } from '@pico/log'
import type { StreamRecord } from '@pico/metadata'

/**
 * Which rows count as there: neither one that is still being created nor one that was deleted, and none whose end has come. Of a stream
 * that is open here, what is known here counts: SQL lags behind its uses.
 */
export class Presence {
  readonly #clock: Clock
  readonly #endOfOpen: (streamId: number) => number | undefined

  /** `endOfOpen`: when a stream that is open here ends; Infinity for never. */
  constructor(clock: Clock, endOfOpen: (streamId: number) => number | undefined) {
    this.#clock = clock
    this.#endOfOpen = endOfOpen
  }

  isThere(row: Pick<StreamRecord, 'streamId' | 'life' | 'expiresAtMs'>): boolean {
    return row.life === 'live' && !this.isOver(row)
  }

  isOver({ streamId, expiresAtMs }: { readonly streamId: number; readonly expiresAtMs: number | null }): boolean {
    if (expiresAtMs === null) return false
    return this.#clock.nowMs() >= (this.#endOfOpen(streamId) ?? expiresAtMs)
  }
}
