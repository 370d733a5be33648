import type { Clock } from '@pico/log'
import type { StreamRecord } from '@pico/metadata'
import type { ExpiryRenewals } from './expiry-renewals.ts'
import type { StreamExpiry } from './path-streams.ts'

/** SQL hears of a use when it would be off by more than this, or by a tenth of the time to live. */
const lagMsMin = 200

/** When an open stream ends by itself. Every use puts it off at once here, and now and then in SQL. */
export class OpenStreamExpiry {
  readonly expiry: StreamExpiry
  readonly #streamId: number
  readonly #clock: Clock
  readonly #renewals: ExpiryRenewals
  readonly #idleTtlMs: number | null
  #expiresAtMs: number
  #storedMs: number

  constructor(record: StreamRecord, clock: Clock, renewals: ExpiryRenewals) {
    this.expiry = expiryOf(record)
    this.#streamId = record.streamId
    this.#clock = clock
    this.#renewals = renewals
    this.#idleTtlMs = record.idleTtlMs
    this.#storedMs = record.expiresAtMs ?? Number.POSITIVE_INFINITY
    this.#expiresAtMs = this.#storedMs
  }

  get isOver(): boolean {
    return this.#expiresAtMs !== Number.POSITIVE_INFINITY && this.#clock.nowMs() >= this.#expiresAtMs
  }

  /** Infinity where it never ends. */
  get expiresAtMs(): number {
    return this.#expiresAtMs
  }

  touch(): void {
    if (this.#idleTtlMs === null || this.isOver) return
    this.#expiresAtMs = this.#clock.nowMs() + this.#idleTtlMs
    if (this.#expiresAtMs - this.#storedMs > Math.max(lagMsMin, this.#idleTtlMs / 10)) this.store()
  }

  /** Has SQL told what is known here; true when it knows already. */
  store(): boolean {
    if (this.#expiresAtMs > this.#storedMs) {
      this.#storedMs = this.#expiresAtMs
      this.#renewals.put(this.#streamId, this.#expiresAtMs)
    }
    return !this.#renewals.isPending(this.#streamId)
  }
}

const neverEnds: StreamExpiry = { kind: 'never' }

export function expiryOf({ expiresAtMs, idleTtlMs }: Pick<StreamRecord, 'expiresAtMs' | 'idleTtlMs'>): StreamExpiry {
  if (expiresAtMs === null) return neverEnds
  return idleTtlMs === null ? { kind: 'at', expiresAtMs } : { kind: 'idle', ttlSeconds: idleTtlMs / 1000 }
}
