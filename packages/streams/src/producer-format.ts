import { type ByteReader, ByteWriter } from '@pico/binary'
import { incrementSequence } from '@pico/record-batch'
import { ProducerStateUnreadableError } from './errors.ts'
import { afterBatch, type ProducerState, type RememberedBatch, rememberedBatchesMax } from './producer-state.ts'
import type { ProducerTable } from './producer-table.ts'

/** Of the formats of FORMAT.md what is said of idempotent Kafka producers: a summary per batch, and their part of the table. */
export const producerSummaryVersion = 1
/** Bit 0 of a summary's flags: nothing was known of the producer, so its state begins with this batch. */
const startsOverFlag = 1

export const summaryBytes = 44
const producerHeaderBytes = 19
const rememberedBatchBytes = 24

export interface ProducerSummary {
  readonly producerId: number
  readonly producerEpoch: number
  readonly startsOver: boolean
  readonly expiresAtMs: number
  readonly batch: RememberedBatch
}

/** What the log keeps beside a batch of an idempotent producer. */
export function encodeSummary(summary: ProducerSummary): Uint8Array {
  const { batch } = summary
  const writer = new ByteWriter({ initialBytes: summaryBytes })
  writer.uint8(producerSummaryVersion)
  writer.uint8(summary.startsOver ? startsOverFlag : 0)
  writer.int16(summary.producerEpoch)
  writer.int64FromNumber(summary.producerId)
  writer.int64FromNumber(summary.expiresAtMs)
  writer.int64FromNumber(batch.timestampMs)
  writer.int64FromNumber(batch.baseOffset)
  writer.int32(batch.lastOffset - batch.baseOffset)
  writer.int32(batch.firstSequence)
  return writer.toBytes()
}

/** What comes after the version of a summary. */
export function applyProducerSummary(table: ProducerTable, reader: ByteReader): void {
  const startsOver = (reader.uint8() & startsOverFlag) !== 0
  const producerEpoch = reader.int16()
  const producerId = reader.int64AsNumber()
  const expiresAtMs = reader.int64AsNumber()
  const timestampMs = reader.int64AsNumber()
  const batch = readOffsetsAndSequences(reader, timestampMs)
  const before = startsOver ? undefined : table.get(producerId, Number.NEGATIVE_INFINITY)
  table.set(producerId, afterBatch(before, producerEpoch, batch, expiresAtMs))
}

export function readProducers(reader: ByteReader, table: ProducerTable): void {
  const producers = reader.int32()
  for (let index = 0; index < producers; index++) {
    const producerId = reader.int64AsNumber()
    const producerEpoch = reader.int16()
    const expiresAtMs = reader.int64AsNumber()
    const count = reader.uint8()
    if (count < 1 || count > rememberedBatchesMax) throw new ProducerStateUnreadableError(`${count} batches`)
    const batches: RememberedBatch[] = []
    for (let nth = 0; nth < count; nth++) batches.push(readOffsetsAndSequences(reader, reader.int64AsNumber()))
    table.set(producerId, { producerEpoch, batches, expiresAtMs })
  }
}

export function writeProducers(writer: ByteWriter, producers: readonly [number, ProducerState][]): void {
  writer.int32(producers.length)
  for (const [producerId, state] of producers) writeProducer(writer, producerId, state)
}

export function producerBytes(state: ProducerState): number {
  return producerHeaderBytes + state.batches.length * rememberedBatchBytes
}

function writeProducer(writer: ByteWriter, producerId: number, state: ProducerState): void {
  writer.int64FromNumber(producerId)
  writer.int16(state.producerEpoch)
  writer.int64FromNumber(state.expiresAtMs)
  writer.uint8(state.batches.length)
  for (const batch of state.batches) {
    writer.int64FromNumber(batch.timestampMs)
    writer.int64FromNumber(batch.baseOffset)
    writer.int32(batch.lastOffset - batch.baseOffset)
    writer.int32(batch.firstSequence)
  }
}

/** A batch has as many sequences as offsets, so its last sequence needs no bytes. */
function readOffsetsAndSequences(reader: ByteReader, timestampMs: number): RememberedBatch {
  const baseOffset = reader.int64AsNumber()
  const lastOffsetDelta = reader.int32()
  const firstSequence = reader.int32()
  const lastSequence = incrementSequence(firstSequence, lastOffsetDelta)
  return { firstSequence, lastSequence, baseOffset, lastOffset: baseOffset + lastOffsetDelta, timestampMs }
}
