import { crc32c } from '@pico/binary'
import { attributeBits, batchHeaderBytes, fieldAt, logOverheadBytes, type TimestampType } from './batch-header.ts'
import { type CompressionCodec, codecOf } from './compression.ts'
import { RecordBatchError } from './errors.ts'
import { int16At, int32At, int64At, setInt16, setInt32, setInt64, uint32At } from './header-integers.ts'
import { incrementSequence, noSequence } from './sequence.ts'

/**
 * One RecordBatch v2 inside a larger buffer, read where it lies. Borrows `bytes`: valid as long as they are.
 * Only the frame is checked on construction (whole, magic 2, at least a header long); `isCrcValid` checks the content.
 *
 * Offsets, timestamps and producer ids are safe integers; a getter whose field holds anything else throws
 * `PICO_RECORD_BATCH_UNSAFE_INTEGER`.
 */
export class BatchView {
  readonly bytes: Uint8Array
  /** Where the batch begins in `bytes`. */
  readonly position: number
  /** The whole batch, header included. */
  readonly byteLength: number

  constructor(bytes: Uint8Array, position = 0) {
    this.bytes = bytes
    this.position = position
    this.byteLength = checkedByteLength(bytes, position)
  }

  get baseOffset(): number {
    return this.#safeInt64(fieldAt.baseOffset, 'base offset')
  }

  /** The length field: bytes after it. */
  get batchLength(): number {
    return this.byteLength - logOverheadBytes
  }

  get partitionLeaderEpoch(): number {
    return int32At(this.bytes, this.position + fieldAt.partitionLeaderEpoch)
  }

  get magic(): 2 {
    return 2
  }

  /** The stored CRC-32C of everything from the attributes on, unsigned. */
  get crc(): number {
    return uint32At(this.bytes, this.position + fieldAt.crc)
  }

  get attributes(): number {
    return int16At(this.bytes, this.position + fieldAt.attributes)
  }

  /** The compression id as stored: 0 to 7, of which 5 to 7 name nothing. */
  get codecId(): number {
    return this.attributes & attributeBits.codec
  }

  /** Throws `PICO_RECORD_BATCH_UNKNOWN_CODEC` for the ids 5 to 7. */
  get codec(): CompressionCodec {
    return codecOf(this.codecId)
  }

  get timestampType(): TimestampType {
    return (this.attributes & attributeBits.logAppendTime) === 0 ? 'CreateTime' : 'LogAppendTime'
  }

  get isTransactional(): boolean {
    return (this.attributes & attributeBits.transactional) !== 0
  }

  get isControl(): boolean {
    return (this.attributes & attributeBits.control) !== 0
  }

  /** KIP-534: the base timestamp field holds the time after which tombstones may go. */
  get hasDeleteHorizon(): boolean {
    return (this.attributes & attributeBits.deleteHorizon) !== 0
  }

  get lastOffsetDelta(): number {
    return int32At(this.bytes, this.position + fieldAt.lastOffsetDelta)
  }

  get lastOffset(): number {
    return this.baseOffset + this.lastOffsetDelta
  }

  /** Milliseconds; each record holds its difference to it. */
  get baseTimestamp(): number {
    return this.#safeInt64(fieldAt.baseTimestamp, 'base timestamp')
  }

  /** Milliseconds; -1 if no record has a timestamp. */
  get maxTimestamp(): number {
    return this.#safeInt64(fieldAt.maxTimestamp, 'max timestamp')
  }

  /** -1 if the producer is not idempotent. */
  get producerId(): number {
    return this.#safeInt64(fieldAt.producerId, 'producer id')
  }

  get producerEpoch(): number {
    return int16At(this.bytes, this.position + fieldAt.producerEpoch)
  }

  get baseSequence(): number {
    return int32At(this.bytes, this.position + fieldAt.baseSequence)
  }

  /** The sequence of the last record, past 2^31 - 1 going on at 0; -1 without a base sequence. */
  get lastSequence(): number {
    const baseSequence = this.baseSequence
    return baseSequence < 0 ? noSequence : incrementSequence(baseSequence, this.lastOffsetDelta)
  }

  get count(): number {
    return int32At(this.bytes, this.position + fieldAt.count)
  }

  /** The whole batch, sharing memory with `bytes`. */
  batchBytes(): Uint8Array {
    return this.bytes.subarray(this.position, this.position + this.byteLength)
  }

  /** Everything after the header, compressed if the batch is, sharing memory with `bytes`. */
  recordsBytes(): Uint8Array {
    return this.bytes.subarray(this.position + fieldAt.records, this.position + this.byteLength)
  }

  computeCrc(): number {
    return crc32c(this.bytes.subarray(this.position + fieldAt.attributes, this.position + this.byteLength))
  }

  isCrcValid(): boolean {
    return this.crc === this.computeCrc()
  }

  /** In place. Outside the CRC, which stays as valid as it was. */
  patchBaseOffset(baseOffset: number): void {
    requireSafe(baseOffset, 'base offset')
    setInt64(this.bytes, this.position + fieldAt.baseOffset, baseOffset)
  }

  /** In place. Outside the CRC, which stays as valid as it was. */
  patchPartitionLeaderEpoch(leaderEpoch: number): void {
    if (leaderEpoch !== (leaderEpoch | 0)) {
      throw new RecordBatchError('PICO_RECORD_BATCH_OUT_OF_RANGE', `partition leader epoch ${leaderEpoch} is no int32`)
    }
    setInt32(this.bytes, this.position + fieldAt.partitionLeaderEpoch, leaderEpoch)
  }

  /**
   * In place: from now on every record has this timestamp, in milliseconds. The records keep their deltas.
   * Recomputes the CRC over the whole batch unless nothing changes.
   */
  stampLogAppendTime(timestampMs: number): void {
    this.#stamp('LogAppendTime', timestampMs)
  }

  /** In place: the timestamps are the producers', and this is the largest. Recomputes the CRC unless nothing changes. */
  stampCreateTime(maxTimestampMs: number): void {
    this.#stamp('CreateTime', maxTimestampMs)
  }

  /** As Kafka's DefaultRecordBatch.setMaxTimestamp, which also drops the attribute bits that have no meaning yet. */
  #stamp(timestampType: TimestampType, maxTimestampMs: number): void {
    requireSafe(maxTimestampMs, 'max timestamp')
    const at = this.position
    if (this.timestampType === timestampType && int64At(this.bytes, at + fieldAt.maxTimestamp) === maxTimestampMs)
      return
    const kept = attributeBits.codec | attributeBits.transactional | attributeBits.control | attributeBits.deleteHorizon
    const type = timestampType === 'LogAppendTime' ? attributeBits.logAppendTime : 0
    setInt16(this.bytes, at + fieldAt.attributes, (this.attributes & kept) | type)
    setInt64(this.bytes, at + fieldAt.maxTimestamp, maxTimestampMs)
    setInt32(this.bytes, at + fieldAt.crc, this.computeCrc())
  }

  #safeInt64(field: number, name: string): number {
    const value = int64At(this.bytes, this.position + field)
    if (!Number.isSafeInteger(value)) {
      throw new RecordBatchError('PICO_RECORD_BATCH_UNSAFE_INTEGER', `the ${name} is beyond 2^53`)
    }
    return value
  }
}

/** The length of the batch at `position`, after checking that all of it is there and that its format is v2. */
export function checkedByteLength(bytes: Uint8Array, position: number): number {
  const left = bytes.length - position
  if (!(position >= 0 && left >= batchHeaderBytes)) {
    throw new RecordBatchError('PICO_RECORD_BATCH_TRUNCATED', `${left} bytes are too few for a batch header`)
  }
  const magic = bytes[position + fieldAt.magic]
  if (magic !== 2) {
    throw new RecordBatchError('PICO_RECORD_BATCH_WRONG_MAGIC', `magic ${magic} is not a RecordBatch v2`)
  }
  const byteLength = int32At(bytes, position + fieldAt.batchLength) + logOverheadBytes
  if (byteLength < batchHeaderBytes) {
    throw new RecordBatchError('PICO_RECORD_BATCH_CORRUPT', `a batch of ${byteLength} bytes is shorter than its header`)
  }
  if (byteLength > left) {
    throw new RecordBatchError(
      'PICO_RECORD_BATCH_TRUNCATED',
      `a batch of ${byteLength} bytes, of which ${left} are here`,
    )
  }
  return byteLength
}

function requireSafe(value: number, name: string): void {
  if (!Number.isSafeInteger(value)) {
    throw new RecordBatchError('PICO_RECORD_BATCH_OUT_OF_RANGE', `${name} ${value} is no safe integer`)
  }
}
