export type StoreOperation = 'put' | 'get' | 'delete' | 'list' | 'create' | 'write'

/** What goes wrong in one call. `code` is the system's code that the error's cause carries: `EIO` unless given. */
export type Fault =
  /** Nothing is done. */
  | { readonly kind: 'fail-before'; readonly code?: string }
  /** All is done, and fails all the same: an answer that was lost; for a segment write, a sync that failed. */
  | { readonly kind: 'fail-after'; readonly code?: string }
  /** A segment write of which only part reaches the file: its beginning, or any of its 512-byte sectors. */
  | { readonly kind: 'torn'; readonly keep: 'beginning' | 'sectors'; readonly code?: string }
  /** A get whose bytes differ in one bit from what was put. */
  | { readonly kind: 'altered' }
  /** Nothing is done until the call is aborted (a segment write cannot be), or the faults are healed: then it goes on. */
  | { readonly kind: 'hang' }

export interface FaultRule {
  readonly operation: StoreOperation
  /** Only calls for such a key (for a list, its prefix; for a delete, any of its keys). */
  readonly key?: RegExp
  /** Which of the matching calls, counted from 1 when the rule came into force; every one unless given. */
  readonly nth?: number
  /** Chance of each matching call, 0 to 1, drawn from the plan's seed. */
  readonly probability?: number
  readonly fault: Fault
}

export type FaultHook = (operation: StoreOperation, key: string) => void | Promise<void>

export interface FaultPlan {
  /** Same seed and same calls, same faults. */
  readonly seed?: number
  readonly rules?: readonly FaultRule[]
  /** Before every call has an effect. */
  readonly latencyMs?: number
  /** Shared by all that is put, got and written. */
  readonly bytesPerSecond?: number
  /** Called before an effect; what it throws, the call throws. Where a test kills its process. */
  readonly before?: FaultHook
  /** Called after an effect (also one that is reported as failed, or was torn), before the caller hears of it. */
  readonly after?: FaultHook
  readonly clock?: FaultClock
}

/** Real time unless a simulation brings its own. */
export interface FaultClock {
  nowMs(): number
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
