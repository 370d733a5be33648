import { ExpiringTable } from './expiring-table.ts'
import type { HttpProducerState } from './http-producer-state.ts'
import { ProducerTable, producersPerStreamMax } from './producer-table.ts'

/** Of which producer's which append (or closing) it was that closed a stream. */
export interface ClosingStamp {
  /** `producerKey` of http-producer-state.ts. */
  readonly producerKey: string
  readonly epoch: number
  readonly sequence: number
}

/** A stream that was closed by an append. */
export interface ClosingMark {
  /** Null where no producer said who it was. */
  readonly by: ClosingStamp | null
  readonly expiresAtMs: number
}

/** The last Stream-Seq taken. */
export interface StreamSeqMark {
  /** Latin-1. */
  readonly value: string
  readonly expiresAtMs: number
}

/** Some things are known of the stream itself, once, for ever. */
export const theStream = 0
export const never = Number.POSITIVE_INFINITY

/** What a stream remembers of what was appended, beside the records: all that its durable summaries add up to. */
export class StreamFacts {
  readonly producers = new ProducerTable()
  readonly httpProducers = new ExpiringTable<string, HttpProducerState>(producersPerStreamMax)
  readonly streamSeq = new ExpiringTable<typeof theStream, StreamSeqMark>(1)
  readonly closing = new ExpiringTable<typeof theStream, ClosingMark>(1)
}
