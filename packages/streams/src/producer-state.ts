import { incrementSequence } from '@pico/record-batch'

/** A batch as the rules of idempotence see it. */
export interface ProducerBatch {
  readonly producerId: number
  readonly producerEpoch: number
  readonly firstSequence: number
  readonly lastSequence: number
}

/** A batch that was taken, to be recognised when it comes again. */
export interface RememberedBatch {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly baseOffset: number
  readonly lastOffset: number
  /** The batch's largest timestamp, which on a LogAppendTime topic is when it was appended. -1 for none. */
  readonly timestampMs: number
}

/** What is known of one producer in one stream. Immutable. */
export interface ProducerState {
  readonly producerEpoch: number
  /** The last five at most, oldest first; never empty. */
  readonly batches: readonly RememberedBatch[]
  /** From then on nothing is known of the producer. */
  readonly expiresAtMs: number
}

export type ProducerVerdict =
  /** `startsOver`: nothing was known of the producer. */
  | { readonly kind: 'new'; readonly startsOver: boolean }
  | { readonly kind: 'duplicate'; readonly of: RememberedBatch }
  | { readonly kind: 'old-epoch'; readonly knownEpoch: number }
  | { readonly kind: 'out-of-order'; readonly expectedSequence: number }

/** Kafka's ProducerStateEntry.NUM_BATCHES_TO_RETAIN: as many as a Java producer has in flight with idempotence. */
export const rememberedBatchesMax = 5

/**
 * Kafka's rules for a batch of an idempotent producer, in Kafka's order (UnifiedLog.analyzeAndValidateProducerState, then
 * ProducerAppendInfo.maybeValidateDataBatch). `state` is undefined when nothing is known of the producer: then any sequence goes.
 */
export function judgeBatch(state: ProducerState | undefined, batch: ProducerBatch): ProducerVerdict {
  if (state === undefined) return { kind: 'new', startsOver: true }
  if (batch.producerEpoch === state.producerEpoch) {
    const of = state.batches.find(
      (known) => known.firstSequence === batch.firstSequence && known.lastSequence === batch.lastSequence,
    )
    if (of !== undefined) return { kind: 'duplicate', of }
  }
  if (batch.producerEpoch < state.producerEpoch) return { kind: 'old-epoch', knownEpoch: state.producerEpoch }
  // A producer raises its epoch by itself after a gap, so an epoch that nobody gave out is as good as any: it begins at 0.
  const expectedSequence =
    batch.producerEpoch > state.producerEpoch ? 0 : incrementSequence(lastBatch(state).lastSequence, 1)
  return batch.firstSequence === expectedSequence
    ? { kind: 'new', startsOver: false }
    : { kind: 'out-of-order', expectedSequence }
}

/** The state after a batch that was judged new. A new epoch forgets the batches of the old one. */
export function afterBatch(
  state: ProducerState | undefined,
  producerEpoch: number,
  batch: RememberedBatch,
  expiresAtMs: number,
): ProducerState {
  const goesOn = state !== undefined && state.producerEpoch === producerEpoch
  const batches = goesOn ? [...state.batches.slice(1 - rememberedBatchesMax), batch] : [batch]
  return { producerEpoch, batches, expiresAtMs }
}

export function lastBatch(state: ProducerState): RememberedBatch {
  return state.batches[state.batches.length - 1]! // never empty, see ProducerState
}
