import { ExpiringTable } from './expiring-table.ts'
import { lastBatch, type ProducerState } from './producer-state.ts'

/**
 * Producers a stream remembers. Kafka has no such bound; ours forgets whoever has been silent for longest, which is what expiry
 * would do to it later. 16,384 producers are about 1 MB in memory and in SQL.
 */
export const producersPerStreamMax = 16_384

/** Producers as of the last durable batch. */
export class ProducerTable extends ExpiringTable<number, ProducerState> {
  constructor() {
    super(producersPerStreamMax)
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
