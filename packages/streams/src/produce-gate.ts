import { type AcceptedBatch, BatchView, type ProduceRules, produceErrors, validateProduced } from '@pico/record-batch'
import { gateErrors } from './kafka-errors.ts'
import type { AppendOutcome } from './partition.ts'
import { encodeSummary } from './producer-format.ts'
import type { ProducerBatch, ProducerVerdict, RememberedBatch } from './producer-state.ts'
import type { StreamClosing } from './stream-closing.ts'
import type { StreamTail } from './stream-tail.ts'
import type { TopicConfig } from './topic-config.ts'
import { type Judgement, schemaProblemText } from './topic-schema.ts'

export interface ProduceGateSettings {
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
  readonly #tail: StreamTail
  readonly #closing: StreamClosing
  readonly #producerIdExpirationMs: number
  #config: TopicConfig

  constructor(tail: StreamTail, closing: StreamClosing, { config, producerIdExpirationMs }: ProduceGateSettings) {
    this.#tail = tail
    this.#closing = closing
    this.#config = config
    this.#producerIdExpirationMs = producerIdExpirationMs
  }

  /** `produceVersion` is that of the request: from 3 on v2 batches only, from 7 on zstd. `judgement`: of its records, where there is one. */
  append(bytes: Uint8Array, produceVersion: number, judgement: Judgement | null): AppendOutcome {
    const nowMs = this.#tail.clock.nowMs()
    const verdict = validateProduced(bytes, this.#rules(produceVersion, nowMs))
    if (!verdict.accepted) {
      const { accepted: _, errorMessage: message, ...refused } = verdict
      return { refused: { message, ...refused } }
    }
    if (verdict.producerId >= 0) return this.#appendIdempotent(verdict, nowMs, judgement)
    return refuseBroken(judgement) ?? this.#store(verdict, noSummary)
  }

  /** For every batch from now on. */
  reconfigure(config: TopicConfig): void {
    this.#config = config
  }

  #appendIdempotent(batch: AcceptedBatch, nowMs: number, judgement: Judgement | null): AppendOutcome {
    const { producerId, producerEpoch, baseSequence: firstSequence, lastSequence } = batch
    const producer: ProducerBatch = { producerId, producerEpoch, firstSequence, lastSequence }
    const verdict = this.#tail.known.producers.judge(producer, nowMs)
    if (verdict.kind === 'duplicate') return this.#repeat(verdict.of)
    // Kafka, too, looks at records before it looks at what else may be wrong with their sequence.
    const broken = refuseBroken(judgement)
    if (broken !== null) return broken
    if (verdict.kind !== 'new') return this.#refuseProducer(producer, verdict)

    const baseOffset = this.#tail.nextOffset
    const lastOffset = baseOffset + batch.count - 1
    const remembered = { firstSequence, lastSequence, baseOffset, lastOffset, timestampMs: batch.maxTimestampMs }
    const expiresAtMs = nowMs + this.#producerIdExpirationMs
    const { startsOver } = verdict
    const summary = encodeSummary({ producerId, producerEpoch, startsOver, expiresAtMs, batch: remembered })
    const outcome = this.#store(batch, summary)
    if (outcome.accepted !== undefined) {
      this.#tail.facts.producers.assign(producer, remembered, { nowMs, expiresAtMs }, outcome.accepted.committed)
    }
    return outcome
  }

  #store(batch: AcceptedBatch, summary: Uint8Array): AppendOutcome {
    if (this.#closing.refusesAppends) return this.#refuseClosed()
    const { count, maxTimestampMs, logAppendTimeMs } = batch
    const stored = this.#tail.store({ bytes: batch.batch.batchBytes(), count, maxTimestampMs, summary })
    if (stored instanceof Error) return refuse(gateErrors.notLeaderOrFollower, stored.message)
    const { baseOffset, bytes, committed } = stored
    const view = new BatchView(bytes)
    view.patchBaseOffset(baseOffset)
    view.patchPartitionLeaderEpoch(this.#tail.stream.leaderEpoch)
    if (logAppendTimeMs !== -1) view.stampLogAppendTime(logAppendTimeMs)
    return { accepted: { baseOffset, logAppendTimeMs, committed } }
  }

  #refuseClosed(): AppendOutcome {
    const { name } = this.#tail
    if (!this.#closing.isUnknown) return refuse(gateErrors.policyViolation, `${name} is closed`)
    this.#closing.findOutSoon()
    return refuse(gateErrors.notLeaderOrFollower, `whether ${name} was closed is not known yet`)
  }

  /** Kafka answers a duplicate with the time it remembers of the original, whatever the topic's timestamp type. */
  #repeat(original: RememberedBatch): AppendOutcome {
    const { baseOffset, timestampMs: logAppendTimeMs } = original
    return { accepted: { baseOffset, logAppendTimeMs, committed: this.#tail.known.producers.fateOf(original) } }
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
      maxDecompressedBytes: Math.min(maxDecompressedBytes, config.maxDecompressedMessageBytes),
    }
  }

  #refuseProducer(
    { producerId, producerEpoch, firstSequence }: ProducerBatch,
    verdict: Extract<ProducerVerdict, { kind: 'old-epoch' | 'out-of-order' }>,
  ): AppendOutcome {
    const producer = `producer ${producerId}, epoch ${producerEpoch}, in ${this.#tail.name}`
    if (verdict.kind === 'old-epoch') {
      return refuse(gateErrors.invalidProducerEpoch, `${producer}: epoch ${verdict.knownEpoch} has been seen`)
    }
    return refuse(
      gateErrors.outOfOrderSequenceNumber,
      `${producer}: sequence ${firstSequence} where ${verdict.expectedSequence} comes next`,
    )
  }
}

/** Records that are not as their schema wants them, each of them named once (KIP-467); null when all are. */
function refuseBroken(judgement: Judgement | null): AppendOutcome | null {
  if (judgement === null || judgement.problems.length === 0) return null
  const byRecord = Map.groupBy(judgement.problems, ({ index }) => index)
  const recordErrors = [...byRecord].map(([batchIndex, problems]) => {
    const messages = problems.map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`))
    return { batchIndex, message: messages.join('; ') }
  })
  return { refused: { errorCode: produceErrors.invalidRecord, message: schemaProblemText(judgement), recordErrors } }
}

export function refuse(errorCode: number, message: string): AppendOutcome {
  return { refused: { errorCode, message, recordErrors: [] } }
}
