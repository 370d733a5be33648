/**
 * What a load did and what it was told, and what is in the log afterwards: the input of the checker.
 * A record is known by who sent it and its number; its value is made from these, so an altered byte shows.
 */
export interface ProducerHistory {
  readonly name: string
  readonly topic: string
  readonly idempotent: boolean
  /** Runs of records that were acknowledged, with the offset the broker gave the first. */
  readonly acknowledged: Acknowledgement[]
  /** Numbers 0 to `sent` - 1 may be in the log. */
  sent: number
}

export interface Acknowledgement {
  readonly first: number
  readonly count: number
  readonly offset: number
}

/** What readers were given while the load ran. */
export interface ReaderHistory {
  readonly topic: string
  readonly seen: LogRecord[]
}

export interface History {
  readonly producers: readonly ProducerHistory[]
  readonly readers: readonly ReaderHistory[]
}

export interface LogRecord {
  readonly offset: number
  readonly value: string
}

/** `name:number:` and then up to 2 kB of one letter. The same in e2e/java/src/IdempotentLoad.java. */
export function recordValue(producer: string, number: number): string {
  return `${producer}:${number}:${String.fromCharCode(97 + (number % 26)).repeat((number * 7919) % 2000)}`
}

/** Who sent a value, and which number; undefined when nobody can have sent it. */
export function senderOf(value: string): { producer: string; number: number } | undefined {
  const found = /^([^:]+):(\d+):/.exec(value)
  if (found?.[1] === undefined) return undefined
  const sender = { producer: found[1], number: Number(found[2]) }
  return recordValue(sender.producer, sender.number) === value ? sender : undefined
}
