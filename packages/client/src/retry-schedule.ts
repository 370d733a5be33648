import { setTimeout as sleep } from 'node:timers/promises'

export interface RetrySettings {
  /** Before the second attempt; doubled for each one after. Default 50. */
  readonly firstDelayMs?: number
  /** Default 5,000. */
  readonly longestDelayMs?: number
  /** Give up when nothing has succeeded for so long. Default 60,000; 0: never try again. */
  readonly giveUpAfterMs?: number
  /** 0 to 1, for the jitter. */
  readonly random?: () => number
}

/** When to try again: doubling delays, each drawn from its upper half, so that clients that failed together come back apart. */
export class RetrySchedule {
  readonly #settings: Required<RetrySettings>
  #failures = 0
  #sinceMs: number

  constructor(settings: RetrySettings, nowMs = performance.now()) {
    this.#settings = {
      firstDelayMs: 50,
      longestDelayMs: 5_000,
      giveUpAfterMs: 60_000,
      random: Math.random,
      ...settings,
    }
    this.#sinceMs = nowMs
  }

  /** Something worked: the next failure is a first one. */
  succeeded(nowMs = performance.now()): void {
    this.#failures = 0
    this.#sinceMs = nowMs
  }

  /**
   * How long to wait after a failure; null to give up.
   * @param leastMs what the server asked for by Retry-After. Jitter comes on top of it: everybody was told the same.
   */
  nextDelayMs(leastMs: number | null = null, nowMs = performance.now()): number | null {
    const { firstDelayMs, longestDelayMs, giveUpAfterMs, random } = this.#settings
    const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures)
    this.#failures = Math.min(this.#failures + 1, 30)
    const jittered = longest * (0.5 + random() / 2)
    const delayMs = leastMs === null ? jittered : leastMs + Math.min(jittered, firstDelayMs * 4)
    return nowMs + delayMs - this.#sinceMs > giveUpAfterMs ? null : delayMs
  }
}

/** @throws the signal's reason, not an error that wraps it */
export async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
