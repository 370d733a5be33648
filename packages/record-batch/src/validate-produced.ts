import { fieldAt } from './batch-header.ts'
import { BatchView } from './batch-view.ts'
import { type CompressionCodec, codecOf, decompress } from './compression.ts'
import { convertMessageSet } from './convert-message-set.ts'
import { frameProduced } from './frame-produced.ts'
import { int64At } from './header-integers.ts'
import { type ProduceRules, targetCodec } from './produce-rules.ts'
import { type ProduceVerdict, produceErrors, type RefusedBatch, refused, refusedBecause } from './produce-verdict.ts'
import { rebuildBatch } from './rebuild-batch.ts'
import { RecordCursor } from './record-cursor.ts'
import { noSequence } from './sequence.ts'
import { walkProduced } from './walk-produced.ts'

/**
 * Judges one partition's records field of a Produce request as a Kafka broker does (ProduceRequest.validateRecords,
 * UnifiedLog.analyzeAndValidateRecords, LogValidator), check by check in the same order. Transactional batches are
 * refused too, because no transactional id is. README lists where this is stricter than Kafka.
 *
 * Reads `bytes` and never changes them. An ordinary batch comes back as a view of them; one whose max timestamp is
 * wrong, whose offset deltas have gaps, or that has to be stored under another codec comes back as new bytes.
 */
export function validateProduced(bytes: Uint8Array, rules: ProduceRules): ProduceVerdict {
  try {
    if (rules.produceVersion < 3 && hasOldMagic(bytes)) {
      const converted = convertMessageSet(bytes, rules)
      if (!converted.accepted) return converted
      return validateBatch(new BatchView(converted.bytes), true, rules)
    }
    const batch = framed(bytes, rules.produceVersion)
    return batch instanceof BatchView ? validateBatch(batch, false, rules) : { ...batch, isBeforeLog: true }
  } catch (error) {
    return refusedBecause(error)
  }
}

function framed(bytes: Uint8Array, produceVersion: number): BatchView | RefusedBatch {
  try {
    return frameProduced(bytes, produceVersion)
  } catch (error) {
    return refusedBecause(error)
  }
}

function validateBatch(batch: BatchView, isConverted: boolean, rules: ProduceRules): ProduceVerdict {
  const headerRefusal = judgeHeader(batch, rules)
  if (headerRefusal !== null) return headerRefusal

  const codec = codecOf(batch.codecId)
  const baseTimestamp = int64At(batch.bytes, batch.position + fieldAt.baseTimestamp)
  if (!Number.isSafeInteger(baseTimestamp)) {
    return refused(produceErrors.invalidTimestamp, 'the base timestamp is beyond 2^53')
  }
  const decompressed = codec === 'none' ? null : decompressProduced(batch, codec, rules)
  const openCursor = () =>
    decompressed === null
      ? new RecordCursor(batch.bytes, batch.position + fieldAt.records, batch.position + batch.byteLength, batch.count)
      : new RecordCursor(decompressed, 0, decompressed.length, batch.count)
  const walked = walkProduced(openCursor(), baseTimestamp, batch.timestampType === 'LogAppendTime', rules)
  if ('accepted' in walked) return walked

  const target = targetCodec(rules.compressionType, codec)
  if (walked.isDense && target === codec) {
    const stored = withTrueMaxTimestamp(batch, walked.maxTimestamp, rules)
    return accept(stored, isConverted || stored !== batch, walked.maxTimestamp, rules)
  }
  const rebuilt = new BatchView(rebuildBatch(batch, openCursor(), target, walked.maxTimestamp))
  return judgeSize(rebuilt, rules) ?? accept(rebuilt, true, walked.maxTimestamp, rules)
}

/** Everything that does not need the records. */
function judgeHeader(batch: BatchView, rules: ProduceRules): RefusedBatch | null {
  if (int64At(batch.bytes, batch.position + fieldAt.baseOffset) !== 0) {
    return refused(produceErrors.invalidRecord, 'the base offset of a produced batch has to be 0')
  }
  const sizeRefusal = judgeSize(batch, rules)
  if (sizeRefusal !== null) return sizeRefusal
  if (!batch.isCrcValid()) {
    return refused(produceErrors.corruptMessage, `the CRC is not the ${batch.crc} that the batch says`)
  }
  // Throws for an unknown id, which comes next in Kafka's order.
  codecOf(batch.codecId)
  const { count, lastOffsetDelta } = batch
  if (lastOffsetDelta + 1 <= 0 || count <= 0 || count !== lastOffsetDelta + 1) {
    return refused(produceErrors.invalidRecord, `${count} records do not fit a last offset delta of ${lastOffsetDelta}`)
  }
  if (batch.isControl) return refused(produceErrors.invalidRecord, 'clients may not write control records')
  const producerId = int64At(batch.bytes, batch.position + fieldAt.producerId)
  if (producerId > -1 && batch.baseSequence < 0) {
    return refused(
      produceErrors.invalidRecord,
      `producer ${producerId} with the base sequence ${batch.baseSequence}, where it has to count from 0`,
    )
  }
  if (!Number.isSafeInteger(producerId)) {
    return refused(produceErrors.invalidRecord, `no broker has given out the producer id ${producerId}`)
  }
  if (batch.isTransactional) return refused(produceErrors.invalidRecord, 'transactions are not supported')
  return null
}

function judgeSize(batch: BatchView, rules: ProduceRules): RefusedBatch | null {
  if (batch.byteLength <= rules.maxMessageBytes) return null
  return refused(
    produceErrors.messageTooLarge,
    `a batch of ${batch.byteLength} bytes is larger than the ${rules.maxMessageBytes} that the topic allows`,
  )
}

function decompressProduced(batch: BatchView, codec: CompressionCodec, rules: ProduceRules): Uint8Array {
  return decompress(codec, batch.recordsBytes(), rules.maxDecompressedBytes, { refuseLinkedBlocks: true })
}

/** The batch itself if its max timestamp is true, or will be stamped anyway; else a copy where it is. */
function withTrueMaxTimestamp(batch: BatchView, maxTimestamp: number, rules: ProduceRules): BatchView {
  if (rules.timestampType === 'LogAppendTime') return batch
  if (int64At(batch.bytes, batch.position + fieldAt.maxTimestamp) === maxTimestamp) return batch
  const copy = new BatchView(new Uint8Array(batch.batchBytes()))
  copy.stampCreateTime(maxTimestamp)
  return copy
}

function accept(stored: BatchView, rewritten: boolean, maxTimestamp: number, rules: ProduceRules): ProduceVerdict {
  if (stored.byteLength > rules.segmentBytes) {
    return refused(
      produceErrors.recordListTooLarge,
      `a batch of ${stored.byteLength} bytes is larger than a segment of ${rules.segmentBytes}`,
    )
  }
  const { producerId } = stored
  const isIdempotent = producerId > -1
  const logAppendTimeMs = rules.timestampType === 'LogAppendTime' ? rules.nowMs : -1
  return {
    accepted: true,
    batch: stored,
    rewritten,
    count: stored.count,
    producerId: isIdempotent ? producerId : -1,
    producerEpoch: isIdempotent ? stored.producerEpoch : -1,
    baseSequence: isIdempotent ? stored.baseSequence : noSequence,
    lastSequence: isIdempotent ? stored.lastSequence : noSequence,
    maxTimestampMs: logAppendTimeMs === -1 ? maxTimestamp : logAppendTimeMs,
    logAppendTimeMs,
  }
}

function hasOldMagic(bytes: Uint8Array): boolean {
  const magic = bytes[fieldAt.magic]
  return magic === 0 || magic === 1
}
