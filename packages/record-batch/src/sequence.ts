/** Sequence numbers count 0 to 2^31 - 1 and go on at 0 (KIP-98; Kafka's DefaultRecordBatch.incrementSequence). */
const sequenceCount = 2 ** 31

/** The base sequence of a batch without a producer. */
export const noSequence = -1

/** The sequence `increment` records after `sequence`; both within 0 to 2^31 - 1. */
export function incrementSequence(sequence: number, increment: number): number {
  return (sequence + increment) % sequenceCount
}

/** The sequence `decrement` records before `sequence`; both within 0 to 2^31 - 1. */
export function decrementSequence(sequence: number, decrement: number): number {
  return (sequence - decrement + sequenceCount) % sequenceCount
}
