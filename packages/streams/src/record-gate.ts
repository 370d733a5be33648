import type { RecordInput } from '@pico/record-batch'
import type { BatchMemory } from './batch-memory.ts'
import { encodeHttpSummary } from './http-facts-format.ts'
import {
  afterAppend,
  type HttpProducerVerdict,
  judgeStamp,
  lastSequenceOf,
  producerKey,
} from './http-producer-state.ts'
import type {
  AppendRecordsOutcome,
  AppendTerms,
  CloseOutcome,
  DuplicateAppend,
  HttpProducerStamp,
  RecordsRefusal,
} from './path-streams.ts'
import { buildRecords } from './record-building.ts'
import { closingMark, type StreamClosing } from './stream-closing.ts'
import { never, theStream } from './stream-facts.ts'
import type { StreamTail } from './stream-tail.ts'
import type { TopicConfig } from './topic-config.ts'

const noSummary = new Uint8Array(0)
const noTerms: AppendTerms = {}

export interface RecordGateSettings {
  /** To begin with. */
  readonly config: TopicConfig
  readonly producerIdExpirationMs: number
  readonly memory: BatchMemory
}

/**
 * The gate that records over HTTP pass, as ProduceGate is the one of Kafka's batches: judged, made into one batch, given its offsets and
 * handed to the log before `append` returns.
 */
export class RecordGate {
  readonly #tail: StreamTail
  readonly #closing: StreamClosing
  readonly #producerExpirationMs: number
  readonly #memory: BatchMemory
  #config: TopicConfig

  constructor(
    tail: StreamTail,
    closing: StreamClosing,
    { config, producerIdExpirationMs, memory }: RecordGateSettings,
  ) {
    this.#memory = memory
    this.#tail = tail
    this.#closing = closing
    this.#config = config
    this.#producerExpirationMs = producerIdExpirationMs
  }

  /** For every append from now on. */
  reconfigure(config: TopicConfig): void {
    this.#config = config
  }

  /**
   * The order of the checks is Durable Streams': closed, producer, then what else the request asks for. But Pico's producers, whose
   * repeats are to be told that they were written, are recognised on a closed stream too.
   */
  append(records: readonly RecordInput[], terms: AppendTerms = noTerms): AppendRecordsOutcome {
    const nowMs = this.#tail.clock.nowMs()
    const { producer } = terms
    const verdict = producer === undefined ? null : this.#judge(producer, records.length, nowMs)
    if (this.#closing.refusesAppends) return this.#whenClosed(producer, verdict)
    if (verdict !== null && verdict.kind !== 'new') return this.#producerOutcome(producer, verdict)
    const { nextOffset } = this.#tail
    if (terms.matchOffset !== undefined && terms.matchOffset !== nextOffset) {
      return refused({ kind: 'match-failed', nextOffset })
    }
    const { streamSeq } = terms
    const lastStreamSeq = streamSeq === undefined ? undefined : this.#tail.known.streamSeq.get(theStream, nowMs)?.value
    // Latin-1 text compares as its bytes do.
    if (streamSeq !== undefined && lastStreamSeq !== undefined && streamSeq <= lastStreamSeq) {
      return refused({ kind: 'stream-seq', lastStreamSeq })
    }
    const { judgement } = terms
    if (judgement && judgement.problems.length > 0) return refused({ kind: 'breaks-schema', judgement })
    const built = buildRecords(records, {
      config: this.#config,
      nowMs,
      lastTimestampMs: this.#tail.lastTimestampMs,
      baseOffset: nextOffset,
      leaderEpoch: this.#tail.stream.leaderEpoch,
      memory: this.#memory,
    })
    if ('kind' in built) return refused(built)

    const range = { baseOffset: nextOffset, lastOffset: nextOffset + records.length - 1 }
    const expiresAtMs = nowMs + this.#producerExpirationMs
    const closes = terms.close === true
    const summary =
      producer === undefined && streamSeq === undefined && !closes
        ? noSummary
        : encodeHttpSummary({
            ...range,
            producer:
              producer === undefined
                ? null
                : {
                    key: producerKey(producer),
                    epoch: producer.epoch,
                    startsOver: verdict?.kind === 'new' && verdict.startsOver,
                    firstSequence: producer.sequence,
                    expiresAtMs,
                  },
            streamSeq: streamSeq ?? null,
            closes,
          })
    const { maxTimestampMs, firstTimestampMs: timestampMs } = built
    const stored = this.#tail.store({ bytes: built.bytes, count: records.length, maxTimestampMs, summary })
    if (stored instanceof Error) return refused({ kind: 'not-serving' })
    const { committed } = stored
    if (producer !== undefined) {
      const key = producerKey(producer)
      const append = {
        ...range,
        firstSequence: producer.sequence,
        lastSequence: lastSequenceOf(producer, records.length),
      }
      const before = this.#tail.known.httpProducers.get(key, nowMs)
      const after = afterAppend(before, producer.epoch, append, expiresAtMs)
      this.#tail.facts.httpProducers.assign(key, after, range, committed)
    }
    if (streamSeq !== undefined) {
      this.#tail.facts.streamSeq.assign(theStream, { value: streamSeq, expiresAtMs: never }, range, committed)
    }
    const outcome = { kind: 'appended', baseOffset: nextOffset, nextOffset: range.lastOffset + 1, timestampMs } as const
    if (!closes) return { ...outcome, committed }
    this.#tail.facts.closing.assign(theStream, closingMark(producer), range, committed)
    return { ...outcome, committed: this.#recorded() }
  }

  /** Without a record. Null when the stream is not served here any more. */
  async close(producer: HttpProducerStamp | undefined): Promise<CloseOutcome> {
    for (;;) {
      if (this.#closing.isUnknown) await this.#closing.findOut()
      const { nextOffset } = this.#tail
      if (this.#closing.isEnding) {
        if (producer !== undefined && !this.#closing.isBy(producer)) return refused({ kind: 'closed', nextOffset })
        const committed = this.#recorded()
        try {
          await committed
        } catch (error) {
          // The closing append failed on its way: the stream is as open as before.
          if (!this.#closing.isEnding) continue
          throw error
        }
        if (producer === undefined) return { kind: 'closed', nextOffset }
        return { kind: 'duplicate', of: null, lastSequence: producer.sequence, closed: true, committed }
      }
      if (this.#closing.refusesAppends) {
        await this.#closing.underWay()
        continue
      }
      const judge = () => (producer === undefined ? null : this.#judge(producer, 1, this.#tail.clock.nowMs()))
      const verdict = judge()
      if (verdict !== null && verdict.kind !== 'new') return this.#producerOutcome(producer, verdict)
      const isStillRight = () => (judge()?.kind ?? 'new') === 'new'
      if (await this.#closing.closeRow(producer ?? null, isStillRight)) {
        return { kind: 'closed', nextOffset: this.#tail.nextOffset }
      }
      if (isStillRight()) return refused({ kind: 'not-serving' }) // its row is gone
    }
  }

  #judge(producer: HttpProducerStamp, records: number, nowMs: number): HttpProducerVerdict {
    return judgeStamp(this.#tail.known.httpProducers.get(producerKey(producer), nowMs), producer, records)
  }

  #whenClosed(
    producer: HttpProducerStamp | undefined,
    verdict: HttpProducerVerdict | null,
  ): DuplicateAppend | { readonly kind: 'refused'; readonly why: RecordsRefusal } {
    if (this.#closing.isUnknown) {
      this.#closing.findOutSoon()
      return refused({ kind: 'not-serving' })
    }
    const isRepeat = verdict?.kind === 'duplicate' && (producer?.counts === 'records' || this.#isClosedBy(producer))
    if (isRepeat) return this.#producerOutcome(producer, verdict)
    if (this.#isClosedBy(producer) && producer !== undefined) {
      const { sequence } = producer
      return { kind: 'duplicate', of: null, lastSequence: sequence, closed: true, committed: this.#recorded() }
    }
    return refused({ kind: 'closed', nextOffset: this.#tail.nextOffset })
  }

  #producerOutcome(
    producer: HttpProducerStamp | undefined,
    verdict: Exclude<HttpProducerVerdict, { kind: 'new' }>,
  ): DuplicateAppend | { readonly kind: 'refused'; readonly why: RecordsRefusal } {
    if (verdict.kind !== 'duplicate') return refused(verdict)
    const { of, lastSequence } = verdict
    const closed = this.#isClosedBy(producer)
    const key = producer === undefined ? '' : producerKey(producer)
    return {
      kind: 'duplicate',
      of: of === null ? null : { baseOffset: of.baseOffset, nextOffset: of.lastOffset + 1 },
      lastSequence,
      closed,
      committed: closed ? this.#recorded() : this.#tail.known.httpProducers.fateOfLatest(key),
    }
  }

  #isClosedBy(producer: HttpProducerStamp | undefined): boolean {
    return producer !== undefined && this.#closing.isEnding && this.#closing.isBy(producer)
  }

  /** Durable, and told to the row. */
  #recorded(): Promise<void> {
    const recorded = this.#closing.recorded()
    recorded.catch(() => undefined) // whoever wants to know is told through the same promise
    return recorded
  }
}

function refused(why: RecordsRefusal): { readonly kind: 'refused'; readonly why: RecordsRefusal } {
  return { kind: 'refused', why }
}
