import { ByteReader, ByteWriter, ReadError } from '@pico/binary'
import { ProducerStateUnreadableError } from './errors.ts'
import type { Expiring, ExpiringTable } from './expiring-table.ts'
import { applyHttpSummary, httpSummaryVersion, readHttpFacts, writeHttpFacts } from './http-facts-format.ts'
import {
  applyProducerSummary,
  producerBytes,
  producerSummaryVersion,
  readProducers,
  writeProducers,
} from './producer-format.ts'
import { StreamFacts, theStream } from './stream-facts.ts'

/** What is known of a stream as of some offset (FORMAT.md). Version 1 where only Kafka clients have left something. */
const tableVersions = { kafkaOnly: 1, all: 2 } as const
const tableHeaderBytes = 5

/** The facts after more batches: `state` as `encodeFacts` wrote it, then runs of summaries in offset order. */
export function restoreFacts(state: Uint8Array | null, summaries: readonly Uint8Array[]): StreamFacts {
  try {
    const facts = new StreamFacts()
    if (state !== null) decodeFacts(state, facts)
    for (const run of summaries) applySummaries(facts, run)
    return facts
  } catch (error) {
    if (error instanceof ReadError) throw new ProducerStateUnreadableError(error.message, { cause: error })
    throw error
  }
}

/** Null when there is nothing left to remember. */
export function encodeFacts(facts: StreamFacts, nowMs: number): Uint8Array | null {
  const producers = alive(facts.producers, nowMs)
  const httpProducers = alive(facts.httpProducers, nowMs)
  const isMarked =
    facts.streamSeq.get(theStream, nowMs) !== undefined || facts.closing.get(theStream, nowMs) !== undefined
  const version = httpProducers.length > 0 || isMarked ? tableVersions.all : tableVersions.kafkaOnly
  if (producers.length === 0 && version === tableVersions.kafkaOnly) return null
  const kafkaBytes = producers.reduce((sum, [, producer]) => sum + producerBytes(producer), tableHeaderBytes)
  const writer = new ByteWriter({ initialBytes: kafkaBytes + httpProducers.length * 64 })
  writer.uint8(version)
  writeProducers(writer, producers)
  if (version === tableVersions.all) writeHttpFacts(writer, facts, httpProducers)
  return writer.toBytes()
}

function alive<K, S extends Expiring>(table: ExpiringTable<K, S>, nowMs: number): [K, S][] {
  return [...table.entries()].filter(([, state]) => nowMs < state.expiresAtMs)
}

function applySummaries(facts: StreamFacts, run: Uint8Array): void {
  const reader = new ByteReader(run)
  while (reader.remaining > 0) {
    const version = reader.uint8()
    if (version === producerSummaryVersion) applyProducerSummary(facts.producers, reader)
    else if (version === httpSummaryVersion) applyHttpSummary(facts, reader)
    else throw new ProducerStateUnreadableError(`summary version ${version}`)
  }
}

function decodeFacts(bytes: Uint8Array, facts: StreamFacts): void {
  const reader = new ByteReader(bytes)
  const version = reader.uint8()
  if (version !== tableVersions.kafkaOnly && version !== tableVersions.all) {
    throw new ProducerStateUnreadableError(`table version ${version}`)
  }
  readProducers(reader, facts.producers)
  if (version === tableVersions.all) readHttpFacts(reader, facts)
  if (reader.remaining > 0) throw new ProducerStateUnreadableError(`${reader.remaining} bytes after the table`)
}
