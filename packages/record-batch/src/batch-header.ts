import { crc32c } from '@pico/binary'
import { type CompressionCodec, codecIds } from './compression.ts'
import { setInt16, setInt32, setInt64 } from './header-integers.ts'

/** Where each field of a RecordBatch v2 begins, in bytes from the start of the batch (Kafka's DefaultRecordBatch). */
export const fieldAt = {
  baseOffset: 0,
  batchLength: 8,
  partitionLeaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  count: 57,
  records: 61,
} as const

/** Base offset and batch length: what `batchLength` does not count. */
export const logOverheadBytes = 12

/** A whole header; no batch is shorter. */
export const batchHeaderBytes = 61

export const attributeBits = {
  codec: 0x07,
  logAppendTime: 0x08,
  transactional: 0x10,
  control: 0x20,
  deleteHorizon: 0x40,
} as const

export type TimestampType = 'CreateTime' | 'LogAppendTime'

export type BatchHeader = {
  readonly baseOffset: number
  readonly partitionLeaderEpoch: number
  readonly codec: CompressionCodec
  readonly timestampType: TimestampType
  readonly isTransactional: boolean
  readonly isControl: boolean
  /** KIP-534: `baseTimestamp` is the time after which tombstones may go. Default false. */
  readonly hasDeleteHorizon?: boolean
  readonly lastOffsetDelta: number
  readonly baseTimestamp: number
  readonly maxTimestamp: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly count: number
}

/** Writes the 61 header bytes in front of records that are already in place up to the end of `batch`, CRC included. */
export function writeBatchHeader(batch: Uint8Array, header: BatchHeader): void {
  setInt64(batch, fieldAt.baseOffset, header.baseOffset)
  setInt32(batch, fieldAt.batchLength, batch.length - logOverheadBytes)
  setInt32(batch, fieldAt.partitionLeaderEpoch, header.partitionLeaderEpoch)
  batch[fieldAt.magic] = 2
  setInt16(batch, fieldAt.attributes, attributesOf(header))
  setInt32(batch, fieldAt.lastOffsetDelta, header.lastOffsetDelta)
  setInt64(batch, fieldAt.baseTimestamp, header.baseTimestamp)
  setInt64(batch, fieldAt.maxTimestamp, header.maxTimestamp)
  setInt64(batch, fieldAt.producerId, header.producerId)
  setInt16(batch, fieldAt.producerEpoch, header.producerEpoch)
  setInt32(batch, fieldAt.baseSequence, header.baseSequence)
  setInt32(batch, fieldAt.count, header.count)
  setInt32(batch, fieldAt.crc, crc32c(batch.subarray(fieldAt.attributes)))
}

function attributesOf(header: BatchHeader): number {
  return (
    codecIds[header.codec] |
    (header.timestampType === 'LogAppendTime' ? attributeBits.logAppendTime : 0) |
    (header.isTransactional ? attributeBits.transactional : 0) |
    (header.isControl ? attributeBits.control : 0) |
    (header.hasDeleteHorizon ? attributeBits.deleteHorizon : 0)
  )
}
