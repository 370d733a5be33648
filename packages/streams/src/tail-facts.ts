import type { HttpProducerState } from './http-producer-state.ts'
import { Ledger } from './ledger.ts'
import { ProducerLedger } from './producer-ledger.ts'
import { type ClosingMark, StreamFacts, type StreamSeqMark, type theStream } from './stream-facts.ts'

/** StreamFacts of an open stream, with what is in flight. */
export class TailFacts {
  readonly producers: ProducerLedger
  readonly httpProducers: Ledger<string, HttpProducerState>
  readonly streamSeq: Ledger<typeof theStream, StreamSeqMark>
  readonly closing: Ledger<typeof theStream, ClosingMark>

  constructor(durable: StreamFacts) {
    this.producers = new ProducerLedger(durable.producers)
    this.httpProducers = new Ledger(durable.httpProducers)
    this.streamSeq = new Ledger(durable.streamSeq)
    this.closing = new Ledger(durable.closing)
  }

  committed(committedOffset: number, nowMs: number): void {
    this.producers.committed(committedOffset, nowMs)
    this.httpProducers.committed(committedOffset, nowMs)
    this.streamSeq.committed(committedOffset, nowMs)
    this.closing.committed(committedOffset, nowMs)
  }

  rolledBack(nextOffset: number): void {
    this.producers.rolledBack(nextOffset)
    this.httpProducers.rolledBack(nextOffset)
    this.streamSeq.rolledBack(nextOffset)
    this.closing.rolledBack(nextOffset)
  }
}

/** The same for those who only look. */
export interface KnownFacts {
  readonly producers: Omit<ProducerLedger, Writing>
  readonly httpProducers: Omit<TailFacts['httpProducers'], Writing>
  readonly streamSeq: Omit<TailFacts['streamSeq'], Writing>
  readonly closing: Omit<TailFacts['closing'], Writing>
}

type Writing = 'assign' | 'committed' | 'rolledBack'

/** Of a stream that nobody has said anything of, which is most of them. Shared: nothing is ever written to it. */
export const nothingKnown: KnownFacts = new TailFacts(new StreamFacts())
