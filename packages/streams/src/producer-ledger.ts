import { Ledger } from './ledger.ts'
import {
  afterBatch,
  judgeBatch,
  type ProducerBatch,
  type ProducerState,
  type ProducerVerdict,
  type RememberedBatch,
} from './producer-state.ts'
import { describeProducer, type ProducerDescription, type ProducerTable } from './producer-table.ts'

/** The idempotent Kafka producers of one open stream. `assign` is never called for a batch that was not judged new just before. */
export class ProducerLedger {
  readonly #ledger: Ledger<number, ProducerState>

  constructor(durable: ProducerTable) {
    this.#ledger = new Ledger(durable)
  }

  judge(batch: ProducerBatch, nowMs: number): ProducerVerdict {
    return judgeBatch(this.#ledger.get(batch.producerId, nowMs), batch)
  }

  assign(
    { producerId, producerEpoch }: ProducerBatch,
    batch: RememberedBatch,
    times: { readonly nowMs: number; readonly expiresAtMs: number },
    committed: Promise<void>,
  ): void {
    const before = this.#ledger.get(producerId, times.nowMs)
    this.#ledger.assign(producerId, afterBatch(before, producerEpoch, batch, times.expiresAtMs), batch, committed)
  }

  /** When a batch that is remembered is durable: of one in flight, its own promise. */
  fateOf(batch: RememberedBatch): Promise<void> {
    return this.#ledger.fateOf(batch.baseOffset)
  }

  committed(committedOffset: number, nowMs: number): void {
    this.#ledger.committed(committedOffset, nowMs)
  }

  rolledBack(nextOffset: number): void {
    this.#ledger.rolledBack(nextOffset)
  }

  /** Producers that have appended something durable and have not expired. */
  describe(nowMs: number): ProducerDescription[] {
    return [...this.#ledger.durableEntries()]
      .filter(([, state]) => nowMs < state.expiresAtMs)
      .map(([producerId, state]) => describeProducer(producerId, state))
  }
}
