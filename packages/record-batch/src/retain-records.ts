import { sealBatch } from './batch-builder.ts'
import { type BatchHeader, batchHeaderBytes } from './batch-header.ts'
import type { BatchView } from './batch-view.ts'
import { GrowingBytes } from './growing-bytes.ts'
import type { RecordCursor } from './record-cursor.ts'
import { openRecords } from './records.ts'
import { varintLength, writeVarint } from './varint.ts'

/** What a log cleaner looks at. The key is a view. */
export interface CleanedRecord {
  readonly offset: number
  readonly key: Uint8Array | null
  /** No value: the key is to go. */
  readonly isTombstone: boolean
}

export interface RetainRules {
  readonly keep: (record: CleanedRecord) => boolean
  /** A batch that keeps tombstones, and has no delete horizon yet, gets this one, in milliseconds (KIP-534); null for none. */
  readonly deleteHorizonMs: number | null
  readonly maxDecompressedBytes: number
}

/**
 * The batch without the records that `keep` does not want, as Kafka's log cleaner writes it (MemoryRecords.filterTo): base offset, last
 * offset, leader epoch, codec and producer stay, and so do offset and timestamp of each record. The batch itself (a view) when nothing
 * changes, null when no record is left.
 */
export function retainRecords(source: BatchView, rules: RetainRules): Uint8Array | null {
  const kept: boolean[] = []
  let count = 0
  let keepsTombstones = false
  const cursor = openRecords(source, rules.maxDecompressedBytes)
  while (cursor.next()) {
    const record = recordOf(cursor, source.baseOffset)
    const isKept = rules.keep(record)
    kept.push(isKept)
    if (isKept) count++
    if (isKept && record.isTombstone) keepsTombstones = true
  }
  const needsHorizon = rules.deleteHorizonMs !== null && keepsTombstones && !source.hasDeleteHorizon
  if (count === kept.length && count > 0 && !needsHorizon) return source.batchBytes()
  if (count === 0) return null
  return rewrite(
    source,
    openRecords(source, rules.maxDecompressedBytes),
    kept,
    needsHorizon ? rules.deleteHorizonMs : null,
  )
}

/** A batch of the same offsets without a record: it says that there is nothing (Kafka's DefaultRecordBatch.writeEmptyHeader). */
export function emptyBatch(source: BatchView): Uint8Array {
  const header = {
    ...headerOf(source),
    codec: 'none' as const,
    hasDeleteHorizon: false,
    maxTimestamp: -1,
    baseTimestamp: -1,
  }
  return sealBatch(new Uint8Array(batchHeaderBytes), 'none', { ...header, count: 0 })
}

/**
 * The records `[from, to)` of a batch, as a batch of exactly these offsets, not compressed and of no producer. The batch may begin before
 * `from` and end after `to`; where it has no record, or there is no batch, the new one has none either.
 */
export function recordsBetween(
  source: BatchView | null,
  from: number,
  to: number,
  maxDecompressedBytes: number,
): Uint8Array {
  const batch = new GrowingBytes(1024, batchHeaderBytes)
  const none = source === null
  let count = 0
  let latest = -1
  const cursor = none ? null : openRecords(source, maxDecompressedBytes)
  while (cursor?.next() && source !== null) {
    const offset = source.baseOffset + cursor.offsetDelta
    if (offset < from || offset >= to) continue
    appendRecord(batch, cursor, cursor.timestampDelta, offset - from)
    latest = Math.max(latest, source.baseTimestamp + cursor.timestampDelta)
    count++
  }
  const isStamped = source?.timestampType === 'LogAppendTime' && count > 0
  return sealBatch(batch.written(), 'none', {
    baseOffset: from,
    partitionLeaderEpoch: -1,
    codec: 'none',
    timestampType: isStamped ? 'LogAppendTime' : 'CreateTime',
    isTransactional: false,
    isControl: false,
    hasDeleteHorizon: count > 0 && source?.hasDeleteHorizon === true,
    lastOffsetDelta: to - from - 1,
    baseTimestamp: count > 0 ? (source?.baseTimestamp ?? -1) : -1,
    maxTimestamp: isStamped ? source.maxTimestamp : latest,
    producerId: -1,
    producerEpoch: -1,
    baseSequence: -1,
    count,
  })
}

function rewrite(
  source: BatchView,
  cursor: RecordCursor,
  kept: readonly boolean[],
  newHorizonMs: number | null,
): Uint8Array {
  const header = headerOf(source)
  const baseTimestamp = newHorizonMs ?? source.baseTimestamp
  const batch = new GrowingBytes(1024 + source.byteLength, batchHeaderBytes)
  let count = 0
  let latest = -1
  for (let index = 0; cursor.next(); index++) {
    if (!kept[index]) continue
    const timestamp = source.baseTimestamp + cursor.timestampDelta
    const timestampDelta = timestamp - baseTimestamp
    latest = Math.max(latest, timestamp)
    appendRecord(batch, cursor, timestampDelta, cursor.offsetDelta)
    count++
  }
  return sealBatch(batch.written(), header.codec, {
    ...header,
    count,
    baseTimestamp,
    maxTimestamp: source.timestampType === 'LogAppendTime' ? source.maxTimestamp : latest,
    hasDeleteHorizon: source.hasDeleteHorizon || newHorizonMs !== null,
  })
}

/** The record that the cursor stands at, with other deltas. */
function appendRecord(batch: GrowingBytes, cursor: RecordCursor, timestampDelta: number, offsetDelta: number): void {
  const payload = cursor.bytes.subarray(cursor.payloadAt, cursor.recordEnd)
  const bodyBytes = 1 + varintLength(timestampDelta) + varintLength(offsetDelta) + payload.length
  const bytes = batch.reserve(varintLength(bodyBytes) + bodyBytes)
  let at = writeVarint(bytes, batch.length, bodyBytes)
  bytes[at++] = 0 // attributes
  at = writeVarint(bytes, at, timestampDelta)
  at = writeVarint(bytes, at, offsetDelta)
  bytes.set(payload, at)
  batch.length = at + payload.length
}

function recordOf(cursor: RecordCursor, baseOffset: number): CleanedRecord {
  const { bytes, keyAt, keyLength } = cursor
  return {
    offset: baseOffset + cursor.offsetDelta,
    key: keyLength < 0 ? null : bytes.subarray(keyAt, keyAt + keyLength),
    isTombstone: cursor.valueLength < 0,
  }
}

function headerOf(source: BatchView): BatchHeader {
  return {
    baseOffset: source.baseOffset,
    partitionLeaderEpoch: source.partitionLeaderEpoch,
    codec: source.codec,
    timestampType: source.timestampType,
    isTransactional: source.isTransactional,
    isControl: source.isControl,
    lastOffsetDelta: source.lastOffsetDelta,
    baseTimestamp: source.baseTimestamp,
    maxTimestamp: source.maxTimestamp,
    producerId: source.producerId,
    producerEpoch: source.producerEpoch,
    baseSequence: source.baseSequence,
    count: source.count,
  }
}
