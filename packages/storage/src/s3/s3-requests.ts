import { settledOrAborted } from '../settled-or-aborted.ts'
import { retryDelayMs } from './retry-delay.ts'
import { failureOf, isRetriable, type S3Failure, storageErrorOf } from './s3-failure.ts'
import type { S3Limits } from './s3-settings.ts'
import { Slots } from './slots.ts'
import { limitTime } from './time-limit.ts'

export interface S3Request<T> {
  /** As errors name it: `put`. */
  readonly operation: string
  /** As the caller of the store gave it. */
  readonly key: string
  /** That go either way: they lengthen the deadlines. */
  readonly bytes?: number
  /** Goes before others that wait for a free slot: somebody waits for an acknowledgement. */
  readonly urgent?: boolean
  readonly signal?: AbortSignal | undefined
  /** A single try. Safe to repeat, also when an earlier one has its effect later. */
  readonly send: (signal: AbortSignal) => Promise<T>
}

/** How often something was asked of the store, and how that went. */
export interface S3Counts {
  requests: number
  /** The same by what they are for; `other` looks for abandoned uploads and aborts them. */
  readonly byOperation: Record<S3Operation, number>
  retries: number
  throttled: number
  hedges: number
}

export type S3Operation = 'put' | 'get' | 'delete' | 'list' | 'other'

/** Sends requests so many at a time, each until it succeeds, fails for good, is aborted, or its deadline has passed. */
export class S3Requests {
  readonly counts: S3Counts = {
    requests: 0,
    byOperation: { put: 0, get: 0, delete: 0, list: 0, other: 0 },
    retries: 0,
    throttled: 0,
    hedges: 0,
  }
  readonly slots: Slots
  readonly #bucket: string
  readonly #limits: S3Limits

  constructor(bucket: string, limits: S3Limits) {
    this.#bucket = bucket
    this.#limits = limits
    this.slots = new Slots(limits.requestsInFlightMax)
  }

  /** @throws StorageError what the failure means; the signal's reason; what `send` throws that is no failure of the store */
  async run<T>(request: S3Request<T>): Promise<T> {
    const { operation, key, signal, bytes = 0 } = request
    signal?.throwIfAborted()
    const moveMs = (bytes / this.#limits.slowestBytesPerSecond) * 1000
    const whole = limitTime(signal, this.#limits.callDeadlineMs + moveMs)
    let last: { readonly failure: S3Failure; readonly error: unknown } | null = null
    try {
      for (let failures = 1; ; failures++) {
        try {
          return await this.#sendOnce(request, this.#limits.attemptDeadlineMs + moveMs, whole.signal)
        } catch (error) {
          signal?.throwIfAborted()
          const failure = failureOf(error)
          if (failure === null) throw error
          if (!isRetriable(failure)) throw storageErrorOf(failure, { operation, key, bucket: this.#bucket }, error)
          if (whole.signal.aborted) throw this.#late(request, last ?? { failure, error })
          last = { failure, error }
        }
        if (last.failure.kind === 'throttled') this.counts.throttled += 1
        const pauseMs = retryDelayMs(failures, last.failure.kind === 'throttled', Math.random(), this.#limits)
        await pause(pauseMs, whole.signal)
        signal?.throwIfAborted()
        if (whole.signal.aborted) throw this.#late(request, last)
        this.counts.retries += 1
      }
    } finally {
      whole.clear()
    }
  }

  count(operation: string): void {
    const { byOperation } = this.counts
    this.counts.requests += 1
    byOperation[operation in byOperation ? (operation as S3Operation) : 'other'] += 1
  }

  async #sendOnce<T>(
    { operation, send, urgent = false }: S3Request<T>,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<T> {
    const release = await this.slots.take(urgent, signal)
    const limit = limitTime(signal, deadlineMs)
    this.count(operation)
    try {
      return await settledOrAborted(send(limit.signal), limit.signal)
    } finally {
      limit.clear()
      release()
    }
  }

  #late({ operation, key }: S3Request<unknown>, last: { readonly failure: S3Failure; readonly error: unknown }): Error {
    return storageErrorOf(last.failure, { operation, key, bucket: this.#bucket }, last.error)
  }
}

/** Resolves when the time is up, or sooner when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, ms)
    signal.addEventListener('abort', over, { once: true })
  })
}
