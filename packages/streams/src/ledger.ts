import type { Expiring, ExpiringTable } from './expiring-table.ts'

/** What an append changes, while it has its offsets and is on its way to being durable. */
interface Pending<K, S> {
  readonly key: K
  readonly baseOffset: number
  readonly lastOffset: number
  readonly stateAfter: S
  readonly committed: Promise<void>
}

const alreadyCommitted = Promise.resolve()

/**
 * What is known of somebody (a producer, the stream itself) in two layers: as of the last durable append, and over that the appends in
 * flight, which count for every later one. What fails on its way is taken off again, and then the ledger is as if it had never been there.
 *
 * Offsets only ever go up: `assign` is called in offset order.
 */
export class Ledger<K, S extends Expiring> {
  readonly #durable: ExpiringTable<K, S>
  /** In offset order. Null until there is a first. */
  #pending: Pending<K, S>[] | null = null
  /** The state after the last pending append of each key that has one. Null until there is a first. */
  #latest: Map<K, S> | null = null

  constructor(durable: ExpiringTable<K, S>) {
    this.#durable = durable
  }

  get(key: K, nowMs: number): S | undefined {
    const latest = this.#latest?.get(key)
    if (latest === undefined) return this.#durable.get(key, nowMs)
    return nowMs < latest.expiresAtMs ? latest : undefined
  }

  /** Without what is in flight. */
  durable(key: K, nowMs: number): S | undefined {
    return this.#durable.get(key, nowMs)
  }

  durableEntries(): IterableIterator<[K, S]> {
    return this.#durable.entries()
  }

  assign(
    key: K,
    stateAfter: S,
    { baseOffset, lastOffset }: { readonly baseOffset: number; readonly lastOffset: number },
    committed: Promise<void>,
  ): void {
    this.#pending ??= []
    this.#pending.push({ key, baseOffset, lastOffset, stateAfter, committed })
    this.#latest ??= new Map()
    this.#latest.set(key, stateAfter)
  }

  /** When an append that is remembered is durable: of one in flight, its own promise. */
  fateOf(baseOffset: number): Promise<void> {
    const pending = this.#pending?.findLast((candidate) => candidate.baseOffset === baseOffset)
    return pending?.committed ?? alreadyCommitted
  }

  /** When all that is known under the key is durable. */
  fateOfLatest(key: K): Promise<void> {
    return this.#pending?.findLast((candidate) => candidate.key === key)?.committed ?? alreadyCommitted
  }

  /** Everything below `committedOffset` is durable. */
  committed(committedOffset: number, nowMs: number): void {
    if (this.#pending !== null && this.#pending.length > 0) {
      const still = this.#pending.findIndex(({ lastOffset }) => lastOffset >= committedOffset)
      const settled = this.#pending.splice(0, still === -1 ? this.#pending.length : still)
      for (const { key, stateAfter } of settled) {
        this.#durable.set(key, stateAfter)
        if (this.#latest?.get(key) === stateAfter) this.#latest.delete(key)
      }
    }
    this.#durable.forgetExpired(nowMs)
  }

  /** What was assigned at or after `nextOffset` is void. */
  rolledBack(nextOffset: number): void {
    if (this.#pending === null) return
    this.#pending = this.#pending.filter(({ baseOffset }) => baseOffset < nextOffset)
    this.#latest =
      this.#pending.length === 0 ? null : new Map(this.#pending.map(({ key, stateAfter }) => [key, stateAfter]))
  }
}
