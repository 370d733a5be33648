import { type History, type LogRecord, type ProducerHistory, type ReaderHistory, senderOf } from './history.ts'

/**
 * The promises of the broker, held against a history and the log of each topic after it. Returns every breach, in words.
 *
 * 1. Offsets are dense from 0.
 * 2. Every record is one that somebody sent, to this topic, byte for byte.
 * 3. An acknowledged record is at the offset that was acknowledged.
 * 4. Of an idempotent producer, no record is there twice, and they are in the order sent.
 * 5. What a reader was given is there still, at its offset.
 */
export function check(history: History, logs: ReadonlyMap<string, readonly LogRecord[]>): string[] {
  const breaches: string[] = []
  for (const [topic, log] of logs) {
    const producers = history.producers.filter((producer) => producer.topic === topic)
    breaches.push(...checkLog(topic, log, producers))
    for (const producer of producers) breaches.push(...checkProducer(producer, log))
    for (const reader of history.readers) if (reader.topic === topic) breaches.push(...checkReader(reader, log))
  }
  for (const { name, topic } of history.producers) {
    if (!logs.has(topic)) breaches.push(`${name}: topic ${topic} was not read`)
  }
  return breaches
}

function checkLog(topic: string, log: readonly LogRecord[], producers: readonly ProducerHistory[]): string[] {
  const breaches: string[] = []
  const sent = new Map(producers.map((producer) => [producer.name, producer.sent]))
  for (const [index, { offset, value }] of log.entries()) {
    if (offset !== index) {
      breaches.push(`${topic}: offset ${offset} comes where ${index} is due`)
      break // every later one is off as well
    }
    const sender = senderOf(value)
    if (sender === undefined || sender.number >= (sent.get(sender.producer) ?? 0)) {
      breaches.push(`${topic}: offset ${offset} holds what nobody sent: ${value.slice(0, 60)}`)
    }
  }
  return breaches
}

function checkProducer(producer: ProducerHistory, log: readonly LogRecord[]): string[] {
  const breaches: string[] = []
  for (const { first, count, offset } of producer.acknowledged) {
    for (let index = 0; index < count; index++) {
      const record = log[offset + index]
      const sender = record === undefined ? undefined : senderOf(record.value)
      if (sender?.producer === producer.name && sender.number === first + index) continue
      const found = record === undefined ? 'nothing' : record.value.slice(0, 60)
      breaches.push(
        `${producer.name}: record ${first + index} acknowledged at ${offset + index}, where there is ${found}`,
      )
    }
  }
  return producer.idempotent ? [...breaches, ...checkOrder(producer, log)] : breaches
}

/** Strictly rising numbers: neither a record twice, nor two exchanged. */
function checkOrder(producer: ProducerHistory, log: readonly LogRecord[]): string[] {
  const breaches: string[] = []
  let last = -1
  for (const { offset, value } of log) {
    const sender = senderOf(value)
    if (sender?.producer !== producer.name) continue
    if (sender.number <= last) {
      breaches.push(`${producer.name}: record ${sender.number} at ${offset} comes after record ${last}`)
    }
    last = Math.max(last, sender.number)
  }
  return breaches
}

function checkReader(reader: ReaderHistory, log: readonly LogRecord[]): string[] {
  return reader.seen
    .filter(({ offset, value }) => log[offset]?.value !== value)
    .map(({ offset, value }) => {
      const found = log[offset]?.value.slice(0, 60) ?? 'nothing'
      return `${reader.topic}: a reader saw ${value.slice(0, 60)} at ${offset}, where there is ${found}`
    })
}
