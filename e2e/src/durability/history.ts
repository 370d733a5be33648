import { createHash } from 'node:crypto'

/**
 * What a load did and what it was told, and what is in the log afterwards: the input of the checker.
 * A record is known by who sent it and its number; its value is made from these, so an altered byte shows.
 */
export interface ProducerHistory {
  readonly name: string
  /** The partition that it writes to, by `logName`. */
  readonly log: string
  readonly idempotent: boolean
  /** Runs of records that were acknowledged, in any order. */
  readonly acknowledged: Acknowledgement[]
  /** Numbers 0 to `sent` - 1 may be in the log. */
  sent: number
}

export interface Acknowledgement {
  readonly first: number
  readonly count: number
  /** What the broker gave the first. */
  readonly offset: number
  /** By the clock of `EndView`; left out where it is another process that was answered. */
  readonly answeredAtMs?: number
}

/** What a reader, which began at offset 0, was given while the load ran, in that order. */
export interface ReaderHistory {
  readonly name: string
  readonly log: string
  readonly seen: LogRecord[]
  /** In the order asked, each after the one before was answered. */
  readonly ends: EndView[]
}

/** The end of a log, as somebody was told. Times are of one clock for all. */
export interface EndView {
  readonly askedAtMs: number
  readonly answeredAtMs: number
  /** The offset that the next record would get. */
  readonly offset: number
  /** Of whom it was asked, in words. */
  readonly of?: string
}

export interface History {
  readonly producers: readonly ProducerHistory[]
  readonly readers: readonly ReaderHistory[]
}

export interface LogRecord {
  readonly offset: number
  /** By `contentOf`. */
  readonly content: string
}

/** As Kafka's tools print a partition. */
export function logName(topic: string, partition = 0): string {
  return `${topic}-${partition}`
}

/** `name:number:` and then up to 2 kB of one letter. The same in e2e/java/src/IdempotentLoad.java. */
export function recordValue(producer: string, number: number): string {
  return `${producer}:${number}:${String.fromCharCode(97 + (number % 26)).repeat((number * 7919) % 2000)}`
}

export interface Sender {
  readonly producer: string
  readonly number: number
}

/** Who sent a value, and which number; undefined when nobody can have sent it. */
export function senderOf(value: string): Sender | undefined {
  const found = /^([^:]+):(\d+):/.exec(value)
  if (found?.[1] === undefined) return undefined
  const sender = { producer: found[1], number: Number(found[2]) }
  return recordValue(sender.producer, sender.number) === value ? sender : undefined
}

/** `name:number` for a value that is whole, byte for byte; of anything else its beginning and a digest. Kept in the place of values, which are long. */
export function contentOf(value: string): string {
  const sender = senderOf(value)
  if (sender !== undefined) return `${sender.producer}:${sender.number}`
  const digest = createHash('sha256').update(value, 'latin1').digest('hex').slice(0, 16)
  return `${JSON.stringify(value.slice(0, 60))} (${value.length} bytes, ${digest})`
}

/** Who sent what `contentOf` made of a value. */
export function senderOfContent(content: string): Sender | undefined {
  const found = /^([^:"]+):(\d+)$/.exec(content)
  return found?.[1] === undefined ? undefined : { producer: found[1], number: Number(found[2]) }
}
