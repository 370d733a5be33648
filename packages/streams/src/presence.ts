import type { Clock } from '@pico/log'
import type { NodeIdentity, StreamRecord } from '@pico/metadata'

/**
 * Which rows count as there: neither one that is still being created nor one that was deleted, and none whose end has come. Of a stream
 * that is open here, what is known here counts: SQL lags behind its uses. Of one that another node has, only that node knows.
 */
export class Presence {
  readonly #clock: Clock
  readonly #endOfOpen: (streamId: number) => number | undefined
  readonly #isElsewhere: (owner: NodeIdentity | null) => boolean

  /** `endOfOpen`: when a stream that is open here ends; Infinity for never. `isElsewhere`: another live node is the owner. */
  constructor(
    clock: Clock,
    endOfOpen: (streamId: number) => number | undefined,
    isElsewhere: (owner: NodeIdentity | null) => boolean,
  ) {
    this.#clock = clock
    this.#endOfOpen = endOfOpen
    this.#isElsewhere = isElsewhere
  }

  isThere(row: Pick<StreamRecord, 'streamId' | 'life' | 'expiresAtMs' | 'owner'>): boolean {
    return row.life === 'live' && !this.isOver(row)
  }

  isOver({ streamId, expiresAtMs, owner }: Pick<StreamRecord, 'streamId' | 'expiresAtMs' | 'owner'>): boolean {
    if (expiresAtMs === null || this.#isElsewhere(owner)) return false
    return this.#clock.nowMs() >= (this.#endOfOpen(streamId) ?? expiresAtMs)
  }
}
