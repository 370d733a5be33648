import {
  afterBatch,
  judgeBatch,
  type ProducerBatch,
  type ProducerState,
  type ProducerVerdict,
  type RememberedBatch,
} from './producer-state.ts'
import { describeProducer, type ProducerDescription, type ProducerTable } from './producer-table.ts'

/** A batch that has its offsets and is on its way to being durable. */
interface PendingBatch {
  readonly producerId: number
  readonly batch: RememberedBatch
  readonly stateAfter: ProducerState
  readonly committed: Promise<void>
}

const alreadyCommitted = Promise.resolve()

/**
 * The producers of one open stream in two layers: as of the last durable batch, and over that the batches in flight, which
 * count for every later one. What fails on its way is taken off again, and then the ledger is as if it had never been there.
 *
 * Offsets only ever go up: `assign` is called in offset order, and never for a batch that was not judged new just before.
 */
export class ProducerLedger {
  readonly #durable: ProducerTable
  /** In offset order. */
  #pending: PendingBatch[] = []
  /** The state after the last pending batch of each producer that has one. */
  readonly #latest = new Map<number, ProducerState>()

  constructor(durable: ProducerTable) {
    this.#durable = durable
  }

  judge(batch: ProducerBatch, nowMs: number): ProducerVerdict {
    return judgeBatch(this.#state(batch.producerId, nowMs), batch)
  }

  assign(
    producer: ProducerBatch,
    batch: RememberedBatch,
    times: { readonly nowMs: number; readonly expiresAtMs: number },
    committed: Promise<void>,
  ): void {
    const { producerId, producerEpoch } = producer
    const before = this.#state(producerId, times.nowMs)
    const stateAfter = afterBatch(before, producerEpoch, batch, times.expiresAtMs)
    this.#pending.push({ producerId, batch, stateAfter, committed })
    this.#latest.set(producerId, stateAfter)
  }

  /** When a batch that is remembered is durable: of one in flight, its own promise. */
  fateOf(batch: RememberedBatch): Promise<void> {
    const pending = this.#pending.findLast((candidate) => candidate.batch === batch)
    return pending?.committed ?? alreadyCommitted
  }

  /** Everything below `committedOffset` is durable. */
  committed(committedOffset: number, nowMs: number): void {
    const still = this.#pending.findIndex(({ batch }) => batch.lastOffset >= committedOffset)
    const settled = this.#pending.splice(0, still === -1 ? this.#pending.length : still)
    for (const { producerId, stateAfter } of settled) {
      this.#durable.set(producerId, stateAfter)
      if (this.#latest.get(producerId) === stateAfter) this.#latest.delete(producerId)
    }
    this.#durable.forgetExpired(nowMs)
  }

  /** What was assigned at or after `nextOffset` is void. */
  rolledBack(nextOffset: number): void {
    this.#pending = this.#pending.filter(({ batch }) => batch.baseOffset < nextOffset)
    this.#latest.clear()
    for (const { producerId, stateAfter } of this.#pending) this.#latest.set(producerId, stateAfter)
  }

  /** Producers that have appended something durable and have not expired. */
  describe(nowMs: number): ProducerDescription[] {
    return [...this.#durable.entries()]
      .filter(([, state]) => nowMs < state.expiresAtMs)
      .map(([producerId, state]) => describeProducer(producerId, state))
  }

  #state(producerId: number, nowMs: number): ProducerState | undefined {
    const latest = this.#latest.get(producerId)
    if (latest === undefined) return this.#durable.get(producerId, nowMs)
    return nowMs < latest.expiresAtMs ? latest : undefined
  }
}
