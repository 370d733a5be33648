import { ByteReader, ByteWriter, ReadError } from '@pico/binary'
import { incrementSequence } from '@pico/record-batch'
import { ProducerStateUnreadableError } from './errors.ts'
import { afterBatch, type ProducerState, type RememberedBatch, rememberedBatchesMax } from './producer-state.ts'
import { ProducerTable } from './producer-table.ts'

/** The two formats of FORMAT.md: a summary per batch, and the table that summaries add up to. */
const summaryVersion = 1
const tableVersion = 1
/** Bit 0 of a summary's flags: nothing was known of the producer, so its state begins with this batch. */
const startsOverFlag = 1

export const summaryBytes = 44
const tableHeaderBytes = 5
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
  writer.uint8(summaryVersion)
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

/** The table after more batches: `state` as `encodeTable` wrote it, then runs of summaries in offset order. */
export function restoreTable(state: Uint8Array | null, summaries: readonly Uint8Array[]): ProducerTable {
  return readable(() => {
    const table = state === null ? new ProducerTable() : decodeTable(state)
    for (const run of summaries) applySummaries(table, run)
    return table
  })
}

/** Null when there is nothing left to remember. */
export function encodeTable(table: ProducerTable, nowMs: number): Uint8Array | null {
  const alive = [...table.entries()].filter(([, state]) => nowMs < state.expiresAtMs)
  if (alive.length === 0) return null
  const writer = new ByteWriter({
    initialBytes: alive.reduce((sum, [, state]) => sum + stateBytes(state), tableHeaderBytes),
  })
  writer.uint8(tableVersion)
  writer.int32(alive.length)
  for (const [producerId, state] of alive) writeProducer(writer, producerId, state)
  return writer.toBytes()
}

function applySummaries(table: ProducerTable, run: Uint8Array): void {
  const reader = new ByteReader(run)
  while (reader.remaining > 0) {
    const version = reader.uint8()
    if (version !== summaryVersion) throw new ProducerStateUnreadableError(`summary version ${version}`)
    const startsOver = (reader.uint8() & startsOverFlag) !== 0
    const producerEpoch = reader.int16()
    const producerId = reader.int64AsNumber()
    const expiresAtMs = reader.int64AsNumber()
    const timestampMs = reader.int64AsNumber()
    const batch = readOffsetsAndSequences(reader, timestampMs)
    const before = startsOver ? undefined : table.get(producerId, Number.NEGATIVE_INFINITY)
    table.set(producerId, afterBatch(before, producerEpoch, batch, expiresAtMs))
  }
}

function decodeTable(bytes: Uint8Array): ProducerTable {
  const reader = new ByteReader(bytes)
  const version = reader.uint8()
  if (version !== tableVersion) throw new ProducerStateUnreadableError(`table version ${version}`)
  const table = new ProducerTable()
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
  if (reader.remaining > 0) throw new ProducerStateUnreadableError(`${reader.remaining} bytes after the table`)
  return table
}

function stateBytes(state: ProducerState): number {
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

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ReadError) throw new ProducerStateUnreadableError(error.message, { cause: error })
    throw error
  }
}
