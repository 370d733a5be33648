import { strict as assert } from 'node:assert'
import { type Appended, AppendFailedError, type Clock, LogClosedError, type LogStream } from '@pico/log'
import { FencedError } from '@pico/metadata'
import { type AcceptedBatch, BatchView, type ProduceRules, validateProduced } from '@pico/record-batch'
import { gateErrors } from './kafka-errors.ts'
import type { AppendOutcome } from './partition.ts'
import { encodeSummary, restoreTable } from './producer-format.ts'
import { ProducerLedger } from './producer-ledger.ts'
import type { ProducerBatch, ProducerVerdict, RememberedBatch } from './producer-state.ts'
import type { ProducerDescription } from './producer-table.ts'
import type { TopicConfig } from './topic-config.ts'

export interface ProduceGateSettings {
  /** For messages: `orders-0`. */
  readonly name: string
  /** To begin with. */
  readonly config: TopicConfig
  readonly producerIdExpirationMs: number
}

const noSummary = new Uint8Array(0)
/** Bounds what one batch may unpack to, whatever the topic allows on the wire. */
const maxDecompressedBytes = 128 * 1024 * 1024

/**
 * The gate of one stream. A write passes it in one go: validated, judged against its producer, given its offsets and handed to the
 * log before `append` returns, so writes are in the log in the order they came, and a refused one leaves no trace.
 */
export class ProduceGate {
  readonly #stream: LogStream
  readonly #clock: Clock
  readonly #settings: ProduceGateSettings
  readonly #ledger: ProducerLedger
  #config: TopicConfig
  #deleted = false
  /** The log's promise for the last flush appended to, and ours that follows it. */
  #lastFlush: { readonly committed: Promise<void>; readonly ours: Promise<void> } | null = null

  /** @throws ProducerStateUnreadableError */
  constructor(stream: LogStream, clock: Clock, settings: ProduceGateSettings) {
    this.#stream = stream
    this.#clock = clock
    this.#settings = settings
    this.#config = settings.config
    this.#ledger = new ProducerLedger(restoreTable(stream.recoveredState, []))
  }

  /** `produceVersion` is that of the request: from 3 on v2 batches only, from 7 on zstd. */
  append(bytes: Uint8Array, produceVersion: number): AppendOutcome {
    const nowMs = this.#clock.nowMs()
    const verdict = validateProduced(bytes, this.#rules(produceVersion, nowMs))
    if (!verdict.accepted) {
      const { accepted: _, errorMessage: message, ...refused } = verdict
      return { refused: { message, ...refused } }
    }
    return verdict.producerId < 0 ? this.#store(verdict, noSummary) : this.#appendIdempotent(verdict, nowMs)
  }

  /** For every batch from now on. */
  reconfigure(config: TopicConfig): void {
    this.#config = config
  }

  committed(committedOffset: number): void {
    this.#ledger.committed(committedOffset, this.#clock.nowMs())
  }

  rolledBack(nextOffset: number): void {
    this.#ledger.rolledBack(nextOffset)
  }

  /** What is still on its way will not be kept: it rejects when its flush is settled. */
  deleted(): void {
    this.#deleted = true
  }

  producers(): ProducerDescription[] {
    return this.#ledger.describe(this.#clock.nowMs())
  }

  #appendIdempotent(batch: AcceptedBatch, nowMs: number): AppendOutcome {
    const { producerId, producerEpoch, baseSequence: firstSequence, lastSequence } = batch
    const producer: ProducerBatch = { producerId, producerEpoch, firstSequence, lastSequence }
    const verdict = this.#ledger.judge(producer, nowMs)
    if (verdict.kind === 'duplicate') return this.#repeat(verdict.of)
    if (verdict.kind !== 'new') return this.#refuseProducer(producer, verdict)

    const baseOffset = this.#stream.nextOffset
    const lastOffset = baseOffset + batch.count - 1
    const remembered = { firstSequence, lastSequence, baseOffset, lastOffset, timestampMs: batch.maxTimestampMs }
    const expiresAtMs = nowMs + this.#settings.producerIdExpirationMs
    const { startsOver } = verdict
    const summary = encodeSummary({ producerId, producerEpoch, startsOver, expiresAtMs, batch: remembered })
    const outcome = this.#store(batch, summary)
    if (outcome.accepted !== undefined) {
      this.#ledger.assign(producer, remembered, { nowMs, expiresAtMs }, outcome.accepted.committed)
    }
    return outcome
  }

  #store(batch: AcceptedBatch, summary: Uint8Array): AppendOutcome {
    const { count, maxTimestampMs, logAppendTimeMs } = batch
    const announcedOffset = this.#stream.nextOffset
    let appended: Appended
    try {
      appended = this.#stream.append({ bytes: batch.batch.batchBytes(), count, maxTimestampMs, summary })
    } catch (error) {
      if (!(error instanceof LogClosedError || error instanceof FencedError)) throw error
      return refuse(gateErrors.notLeaderOrFollower, error.message)
    }
    const { baseOffset } = appended
    assert(baseOffset === announcedOffset, 'the log gives out the offset it announced')
    const stored = new BatchView(appended.bytes)
    stored.patchBaseOffset(baseOffset)
    stored.patchPartitionLeaderEpoch(this.#stream.leaderEpoch)
    if (logAppendTimeMs !== -1) stored.stampLogAppendTime(logAppendTimeMs)
    return { accepted: { baseOffset, logAppendTimeMs, committed: this.#unlessDeleted(appended.committed) } }
  }

  /** Kafka answers a duplicate with the time it remembers of the original, whatever the topic's timestamp type. */
  #repeat(original: RememberedBatch): AppendOutcome {
    const { baseOffset, timestampMs: logAppendTimeMs } = original
    return { accepted: { baseOffset, logAppendTimeMs, committed: this.#ledger.fateOf(original) } }
  }

  /** The log settles a flush as a whole, also where one of its streams has been deleted meanwhile. One promise per flush. */
  #unlessDeleted(committed: Promise<void>): Promise<void> {
    if (this.#lastFlush?.committed === committed) return this.#lastFlush.ours
    const ours = committed.then(() => {
      if (this.#deleted) throw new AppendFailedError(`${this.#settings.name} was deleted`)
    })
    // Who wants no acknowledgement (acks=0) does not listen; everybody who does is told through the same promise.
    ours.catch(() => undefined)
    this.#lastFlush = { committed, ours }
    return ours
  }

  #rules(produceVersion: number, nowMs: number): ProduceRules {
    const config = this.#config
    return {
      produceVersion,
      nowMs,
      maxMessageBytes: config.maxMessageBytes,
      segmentBytes: config.segmentBytes,
      timestampType: config.messageTimestampType,
      timestampBeforeMaxMs: config.messageTimestampBeforeMaxMs,
      timestampAfterMaxMs: config.messageTimestampAfterMaxMs,
      isCompacted: config.compacted,
      compressionType: config.compressionType,
      maxDecompressedBytes,
    }
  }

  #refuseProducer(
    { producerId, producerEpoch, firstSequence }: ProducerBatch,
    verdict: Extract<ProducerVerdict, { kind: 'old-epoch' | 'out-of-order' }>,
  ): AppendOutcome {
    const producer = `producer ${producerId}, epoch ${producerEpoch}, in ${this.#settings.name}`
    if (verdict.kind === 'old-epoch') {
      return refuse(gateErrors.invalidProducerEpoch, `${producer}: epoch ${verdict.knownEpoch} has been seen`)
    }
    return refuse(
      gateErrors.outOfOrderSequenceNumber,
      `${producer}: sequence ${firstSequence} where ${verdict.expectedSequence} comes next`,
    )
  }
}

export function refuse(errorCode: number, message: string): AppendOutcome {
  return { refused: { errorCode, message, recordErrors: [] } }
}
