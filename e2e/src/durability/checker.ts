import { findSetsBack } from './ends-checker.ts'
import { type History, type LogRecord, type ProducerHistory, type ReaderHistory, senderOfContent } from './history.ts'

/**
 * The promises of the broker, held against a history and the whole of each log after it. Returns every breach, in words.
 *
 * 1. Offsets are dense from 0.
 * 2. Every record is one that somebody sent, to this log, byte for byte.
 * 3. An acknowledged record is at the offset that was acknowledged, and what was sent later is at a later one.
 * 4. Of an idempotent producer, no record is there twice, and they are in the order sent.
 * 5. A reader was given every offset once and in order, and what it was given is there still.
 * 6. No end of a log is told that is before one that was told, or acknowledged, earlier (ends-checker.ts).
 */
export function check(history: History, logs: ReadonlyMap<string, readonly LogRecord[]>): string[] {
  const breaches: string[] = []
  for (const [name, log] of logs) {
    const producers = history.producers.filter((producer) => producer.log === name)
    const readers = history.readers.filter((reader) => reader.log === name)
    breaches.push(...checkLog(name, log, producers))
    for (const producer of producers) breaches.push(...checkProducer(producer, log))
    for (const reader of readers) breaches.push(...checkReader(reader, log))
    breaches.push(...findSetsBack(name, producers, readers, log.length))
  }
  for (const { name, log } of [...history.producers, ...history.readers]) {
    if (!logs.has(log)) breaches.push(`${name}: ${log} was not read`)
  }
  return breaches
}

function checkLog(name: string, log: readonly LogRecord[], producers: readonly ProducerHistory[]): string[] {
  const breaches: string[] = []
  const sent = new Map(producers.map((producer) => [producer.name, producer.sent]))
  for (const [index, { offset, content }] of log.entries()) {
    if (offset !== index) {
      breaches.push(`${name}: offset ${offset} comes where ${index} is due`)
      break // every later one is off as well
    }
    const sender = senderOfContent(content)
    if (sender === undefined || sender.number >= (sent.get(sender.producer) ?? 0)) {
      breaches.push(`${name}: offset ${offset} holds what nobody sent: ${content}`)
    }
  }
  return breaches
}

function checkProducer(producer: ProducerHistory, log: readonly LogRecord[]): string[] {
  const breaches: string[] = []
  let last = -1
  for (const { first, count, offset } of producer.acknowledged.toSorted((a, b) => a.first - b.first)) {
    for (let index = 0; index < count; index++) {
      const found = log[offset + index]?.content ?? 'nothing'
      if (found === `${producer.name}:${first + index}`) continue
      breaches.push(
        `${producer.name}: record ${first + index} acknowledged at ${offset + index} of ${producer.log}, where there is ${found}`,
      )
    }
    if (offset <= last)
      breaches.push(`${producer.name}: record ${first} acknowledged at ${offset}, and the one before it at ${last}`)
    last = offset + count - 1
  }
  return producer.idempotent ? [...breaches, ...checkOrder(producer, log)] : breaches
}

/** Strictly rising numbers: neither a record twice, nor two exchanged. */
function checkOrder(producer: ProducerHistory, log: readonly LogRecord[]): string[] {
  const breaches: string[] = []
  let last = -1
  for (const { offset, content } of log) {
    const sender = senderOfContent(content)
    if (sender?.producer !== producer.name) continue
    if (sender.number <= last) {
      breaches.push(
        `${producer.name}: record ${sender.number} at ${offset} of ${producer.log} comes after record ${last}`,
      )
    }
    last = Math.max(last, sender.number)
  }
  return breaches
}

function checkReader(reader: ReaderHistory, log: readonly LogRecord[]): string[] {
  const breaches: string[] = []
  let due = 0
  for (const { offset, content } of reader.seen) {
    if (offset !== due)
      breaches.push(`${reader.name} was given offset ${offset} of ${reader.log}, where ${due} was due`)
    due = offset + 1
    const found = log[offset]?.content ?? 'nothing'
    if (found === content) continue
    breaches.push(`${reader.name} saw ${content} at ${offset} of ${reader.log}, where there is ${found}`)
  }
  return breaches
}
