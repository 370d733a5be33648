import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { settledOrAborted } from '../settled-or-aborted.ts'
import type { Fault, FaultClock, FaultPlan, FaultRule, StoreOperation } from './fault-plan.ts'

const realClock: FaultClock = {
  nowMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal })
    } catch (error) {
      // The timer rejects with an error of its own.
      signal?.throwIfAborted()
      throw error
    }
  },
}

interface ArmedRule extends FaultRule {
  matches: number
}

/** The plan in force: decides what happens to each call, and makes it wait. */
export class FaultControl {
  readonly #plan: FaultPlan
  readonly #clock: FaultClock
  readonly #random: () => number
  #rules: ArmedRule[] = []
  #bytesPerSecond: number | undefined
  #healed = Promise.withResolvers<void>()
  /** When the link has carried all that it was given. */
  #linkFreeAtMs = Number.NEGATIVE_INFINITY

  constructor(plan: FaultPlan) {
    this.#plan = plan
    this.#clock = plan.clock ?? realClock
    this.#random = seededRandom(plan.seed ?? 1)
    for (const rule of plan.rules ?? []) this.inject(rule)
    this.#bytesPerSecond = plan.bytesPerSecond
  }

  inject(rule: FaultRule): void {
    const { operation, fault } = rule
    assert(fault.kind !== 'torn' || operation === 'write', 'only a segment write can be torn')
    assert(fault.kind !== 'altered' || operation === 'get', 'only a get can be altered')
    this.#rules.push({ ...rule, matches: 0 })
  }

  heal(): void {
    this.#rules = []
    this.#healed.resolve()
    this.#healed = Promise.withResolvers()
  }

  limit(bytesPerSecond: number | undefined): void {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** What is before a call's effect: the hook, the latency, and the fault it is to suffer, if any. A hang is over when this resolves. */
  async begin(operation: StoreOperation, keys: readonly string[], signal?: AbortSignal): Promise<Fault | null> {
    signal?.throwIfAborted()
    const fault = this.#faultOf(operation, keys)
    for (const key of keys) await this.#plan.before?.(operation, key)
    if (this.#plan.latencyMs !== undefined) await this.#clock.sleep(this.#plan.latencyMs, signal)
    if (fault?.kind === 'hang') await settledOrAborted(this.#healed.promise, signal)
    return fault
  }

  async end(operation: StoreOperation, keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#plan.after?.(operation, key)
  }

  /** Takes as long as the link needs for `bytes`, after all that came before. */
  async transfer(bytes: number, signal?: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === undefined) return
    const nowMs = this.#clock.nowMs()
    this.#linkFreeAtMs = Math.max(nowMs, this.#linkFreeAtMs) + (bytes / this.#bytesPerSecond) * 1000
    await this.#clock.sleep(this.#linkFreeAtMs - nowMs, signal)
  }

  /** A whole number from 0 up to and without `bound`. */
  draw(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #faultOf(operation: StoreOperation, keys: readonly string[]): Fault | null {
    let fault: Fault | null = null
    for (const rule of this.#rules) {
      if (rule.operation !== operation || !keys.some((key) => rule.key?.test(key) ?? true)) continue
      rule.matches++
      if (rule.nth !== undefined && rule.nth !== rule.matches) continue
      if (rule.probability !== undefined && this.#random() >= rule.probability) continue
      fault ??= rule.fault
    }
    return fault
  }
}

/** An error as the system would give it. */
export function injectedError(fault: { readonly code?: string }, operation: StoreOperation): Error {
  const code = fault.code ?? 'EIO'
  return Object.assign(new Error(`${code}: injected fault, ${operation}`), { code })
}

/** Mulberry32: small, fast, and the same everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
