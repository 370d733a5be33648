import { lastBatch, type ProducerState } from './producer-state.ts'

/**
 * Producers a stream remembers. Kafka has no such bound; ours forgets whoever has been silent for longest, which is what expiry
 * would do to it later. 16,384 producers are about 1 MB in memory and in SQL.
 */
export const producersPerStreamMax = 16_384

/** A producer as of the last durable batch. Least recently appending first, which makes forgetting cheap. */
export class ProducerTable {
  readonly #states = new Map<number, ProducerState>()

  get size(): number {
    return this.#states.size
  }

  get(producerId: number, nowMs: number): ProducerState | undefined {
    const state = this.#states.get(producerId)
    return state !== undefined && nowMs < state.expiresAtMs ? state : undefined
  }

  set(producerId: number, state: ProducerState): void {
    this.#states.delete(producerId)
    this.#states.set(producerId, state)
    if (this.#states.size > producersPerStreamMax) this.#forgetOldest()
  }

  /** Drops those that have expired, oldest first, up to the first that has not. */
  forgetExpired(nowMs: number): void {
    for (const [producerId, state] of this.#states) {
      if (nowMs < state.expiresAtMs) return
      this.#states.delete(producerId)
    }
  }

  entries(): IterableIterator<[number, ProducerState]> {
    return this.#states.entries()
  }

  #forgetOldest(): void {
    for (const producerId of this.#states.keys()) {
      this.#states.delete(producerId)
      return
    }
  }
}

/** An active producer, for DescribeProducers. */
export interface ProducerDescription {
  readonly producerId: number
  readonly producerEpoch: number
  readonly lastSequence: number
  /** The largest timestamp of its last batch, as in Kafka; -1 for none. */
  readonly lastTimestampMs: number
}

export function describeProducer(producerId: number, state: ProducerState): ProducerDescription {
  const { lastSequence, timestampMs } = lastBatch(state)
  return { producerId, producerEpoch: state.producerEpoch, lastSequence, lastTimestampMs: timestampMs }
}
