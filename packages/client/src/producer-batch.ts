import type { BatchSender, PreparedRecord, Receipt, Sent } from './batch-sender.ts'
import type { PicoError } from './errors.ts'

/** The records of one request, from the first of them to its acknowledgement. */
export class Batch<Prepared extends PreparedRecord, Position> {
  records: Prepared[] = []
  sizeBytes = 0
  count = 0
  seq = -1
  /** Among the batches of its producer. */
  ordinal = -1
  body: Uint8Array = new Uint8Array()
  state: 'waiting' | 'in-flight' | 'again' | 'pausing' | 'refused' = 'waiting'
  /** When it was last sent, earlier ones had no answer yet, so that the server may have seen a gap. */
  followed = false
  /** Its time to wait for company is over. */
  due = false
  /** An attempt had no answer: the server may have it. */
  maybeWritten = false
  lastError: PicoError | null = null
  readonly outcome: Promise<Sent<Position>>
  /** When the outcome is known; never rejects. */
  readonly settled: Promise<void>
  readonly resolve: (sent: Sent<Position>) => void
  readonly reject: (error: unknown) => void
  readonly #bornMs = performance.now()

  /** @param tell is told of its failure */
  constructor(tell: (error: unknown) => void) {
    const { promise, resolve, reject } = Promise.withResolvers<Sent<Position>>()
    this.outcome = promise
    this.resolve = resolve
    this.reject = reject
    this.settled = promise.then(() => undefined, tell)
  }

  add(record: Prepared): number {
    this.sizeBytes += record.sizeBytes
    this.count++
    return this.records.push(record) - 1
  }

  /** From now on it is one body; its records are let go. */
  number(seq: number, sender: Pick<BatchSender<never, Prepared, Position>, 'body'>): void {
    this.seq = seq
    this.body = sender.body(this.records)
    this.records = []
  }

  ageMs(): number {
    return performance.now() - this.#bornMs
  }
}

export class BatchReceipt<Position> implements Receipt<Position> {
  readonly #batch: { readonly outcome: Promise<Sent<Position>> }
  readonly #index: number

  constructor(batch: { readonly outcome: Promise<Sent<Position>> }, index: number) {
    this.#batch = batch
    this.#index = index
  }

  get acknowledged(): Promise<Position | null> {
    return this.#batch.outcome.then(({ positionOf }) => positionOf?.(this.#index) ?? null)
  }
}
