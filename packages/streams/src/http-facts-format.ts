import { type ByteReader, ByteWriter, utf8Length } from '@pico/binary'
import { ProducerStateUnreadableError } from './errors.ts'
import {
  afterAppend,
  type HttpProducerState,
  lastSequenceOf,
  type RememberedAppend,
  rememberedAppendsMax,
} from './http-producer-state.ts'
import { type ClosingStamp, never, type StreamFacts, theStream } from './stream-facts.ts'

/** Of the formats of FORMAT.md what is said of appends over HTTP: their producers, Stream-Seq, closing. */
export const httpSummaryVersion = 2

const flag = { startsOver: 1, hasProducer: 2, hasStreamSeq: 4, closes: 8 } as const
const mark = { hasStreamSeq: 1, closed: 2, closedByProducer: 4 } as const

export interface HttpSummary {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly producer: {
    readonly key: string
    readonly epoch: number
    readonly startsOver: boolean
    readonly firstSequence: number
    readonly expiresAtMs: number
  } | null
  readonly streamSeq: string | null
  readonly closes: boolean
}

/** What the log keeps beside a batch that came over HTTP with any of these. */
export function encodeHttpSummary({ baseOffset, lastOffset, producer, streamSeq, closes }: HttpSummary): Uint8Array {
  const writer = new ByteWriter({ initialBytes: 96 })
  writer.uint8(httpSummaryVersion)
  writer.uint8(
    (producer?.startsOver ? flag.startsOver : 0) |
      (producer === null ? 0 : flag.hasProducer) |
      (streamSeq === null ? 0 : flag.hasStreamSeq) |
      (closes ? flag.closes : 0),
  )
  writer.int64FromNumber(baseOffset)
  writer.int32(lastOffset - baseOffset)
  if (producer !== null) {
    writer.int64FromNumber(producer.epoch)
    writer.int64FromNumber(producer.firstSequence)
    writer.int64FromNumber(producer.expiresAtMs)
    writeKey(writer, producer.key)
  }
  if (streamSeq !== null) writeLatin1(writer, streamSeq)
  return writer.toBytes()
}

/** What comes after the version of a summary. */
export function applyHttpSummary(facts: StreamFacts, reader: ByteReader): void {
  const flags = reader.uint8()
  if (flags > 15) throw new ProducerStateUnreadableError(`summary flags ${flags}`)
  const baseOffset = reader.int64AsNumber()
  const lastOffset = baseOffset + reader.int32()
  let by: ClosingStamp | null = null
  if ((flags & flag.hasProducer) !== 0) {
    const epoch = reader.int64AsNumber()
    const firstSequence = reader.int64AsNumber()
    const expiresAtMs = reader.int64AsNumber()
    const key = readKey(reader)
    const before = (flags & flag.startsOver) !== 0 ? undefined : facts.httpProducers.get(key, Number.NEGATIVE_INFINITY)
    const append = rememberedAppend(key, firstSequence, baseOffset, lastOffset)
    facts.httpProducers.set(key, afterAppend(before, epoch, append, expiresAtMs))
    by = { producerKey: key, epoch, sequence: firstSequence }
  }
  if ((flags & flag.hasStreamSeq) !== 0) {
    facts.streamSeq.set(theStream, { value: readLatin1(reader), expiresAtMs: never })
  }
  if ((flags & flag.closes) !== 0) facts.closing.set(theStream, { by, expiresAtMs: never })
}

/** The part of the table that version 2 adds. */
export function writeHttpFacts(
  writer: ByteWriter,
  facts: StreamFacts,
  httpProducers: readonly [string, HttpProducerState][],
): void {
  writer.int32(httpProducers.length)
  for (const [key, state] of httpProducers) {
    writeKey(writer, key)
    writer.int64FromNumber(state.epoch)
    writer.int64FromNumber(state.expiresAtMs)
    writer.uint8(state.appends.length)
    for (const append of state.appends) {
      writer.int64FromNumber(append.baseOffset)
      writer.int32(append.lastOffset - append.baseOffset)
      writer.int64FromNumber(append.firstSequence)
    }
  }
  const streamSeq = facts.streamSeq.get(theStream, 0)
  const closing = facts.closing.get(theStream, 0)
  writer.uint8(
    (streamSeq === undefined ? 0 : mark.hasStreamSeq) |
      (closing === undefined ? 0 : mark.closed) |
      (closing?.by ? mark.closedByProducer : 0),
  )
  if (streamSeq !== undefined) writeLatin1(writer, streamSeq.value)
  if (closing?.by) {
    writeKey(writer, closing.by.producerKey)
    writer.int64FromNumber(closing.by.epoch)
    writer.int64FromNumber(closing.by.sequence)
  }
}

export function readHttpFacts(reader: ByteReader, facts: StreamFacts): void {
  const producers = reader.int32()
  for (let index = 0; index < producers; index++) {
    const key = readKey(reader)
    const epoch = reader.int64AsNumber()
    const expiresAtMs = reader.int64AsNumber()
    const count = reader.uint8()
    if (count < 1 || count > rememberedAppendsMax) throw new ProducerStateUnreadableError(`${count} appends`)
    const appends: RememberedAppend[] = []
    for (let nth = 0; nth < count; nth++) {
      const baseOffset = reader.int64AsNumber()
      const lastOffset = baseOffset + reader.int32()
      appends.push(rememberedAppend(key, reader.int64AsNumber(), baseOffset, lastOffset))
    }
    facts.httpProducers.set(key, { epoch, appends, expiresAtMs })
  }
  const marks = reader.uint8()
  if (marks > 7) throw new ProducerStateUnreadableError(`marks ${marks}`)
  if ((marks & mark.hasStreamSeq) !== 0) {
    facts.streamSeq.set(theStream, { value: readLatin1(reader), expiresAtMs: never })
  }
  if ((marks & mark.closed) !== 0) {
    const by = (marks & mark.closedByProducer) === 0 ? null : readClosingStamp(reader)
    facts.closing.set(theStream, { by, expiresAtMs: never })
  }
}

function readClosingStamp(reader: ByteReader): ClosingStamp {
  const producerKey = readKey(reader)
  const epoch = reader.int64AsNumber()
  return { producerKey, epoch, sequence: reader.int64AsNumber() }
}

/** The key says what a sequence counts, and so the last sequence needs no bytes. */
function rememberedAppend(
  key: string,
  firstSequence: number,
  baseOffset: number,
  lastOffset: number,
): RememberedAppend {
  const counts = key.startsWith('r:') ? 'records' : 'requests'
  const lastSequence = lastSequenceOf({ counts, sequence: firstSequence }, lastOffset - baseOffset + 1)
  return { firstSequence, lastSequence, baseOffset, lastOffset }
}

function writeKey(writer: ByteWriter, key: string): void {
  const bytes = utf8Length(key)
  writer.uint16(bytes)
  writer.utf8(key, bytes)
}

function readKey(reader: ByteReader): string {
  return reader.utf8(reader.uint16())
}

function writeLatin1(writer: ByteWriter, text: string): void {
  writer.int32(text.length)
  writer.copy(Buffer.from(text, 'latin1'))
}

function readLatin1(reader: ByteReader): string {
  return Buffer.from(reader.take(reader.int32())).toString('latin1')
}
