import type { AppendRecord, ReadRecord } from '@pico/http-contract'

/** What a record is made of, to append it; text is stored as UTF-8. A text or bytes alone are a body. */
export type RecordInput = string | Uint8Array | RecordFields

export interface RecordFields {
  /** Null is a tombstone, for compacted topics. */
  readonly body: string | Uint8Array | null
  readonly key?: string | Uint8Array | null
  /** Pairs where names repeat. */
  readonly headers?: readonly RecordHeader[] | Readonly<Record<string, string>>
  /** Milliseconds since 1970. Absent: the server's clock. */
  readonly timestampMs?: number
}

export type RecordHeader = readonly [name: string, value: string | Uint8Array | null]

/** A record as it was read. */
export class StreamRecord {
  readonly #record: ReadRecord

  constructor(record: ReadRecord) {
    this.#record = record
  }

  get seq(): number {
    return this.#record.seq
  }

  /** Milliseconds since 1970; -1 where a Kafka client gave none. */
  get timestampMs(): number {
    return this.#record.timestamp
  }

  /** Null for a tombstone. */
  get bytes(): Uint8Array | null {
    return this.#record.value
  }

  /** What is not valid UTF-8 becomes U+FFFD. */
  get text(): string | null {
    return textOf(this.#record.value)
  }

  /** Null for a tombstone. @throws SyntaxError */
  json(): unknown {
    return JSON.parse(this.text ?? 'null')
  }

  get keyBytes(): Uint8Array | null {
    return this.#record.key
  }

  get key(): string | null {
    return textOf(this.#record.key)
  }

  /** In order, with their repetitions. */
  get headers(): readonly (readonly [name: string, value: Uint8Array | null])[] {
    return this.#record.headers.map(({ key, value }) => [textOf(key) ?? '', value])
  }

  /** The first header of that name, as text. */
  header(name: string): string | null {
    return textOf(this.headers.find(([known]) => known === name)?.[1] ?? null)
  }

  /** All of it as bytes, as it was on the wire. */
  get fields(): ReadRecord {
    return this.#record
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : decoder.decode(bytes)
}

/** Its bytes are copies: what was given may be changed afterwards. */
export function appendRecordOf(input: RecordInput): AppendRecord {
  if (typeof input === 'string' || input instanceof Uint8Array)
    return { key: null, value: bytesOf(input), headers: noHeaders }
  const { body, key = null, headers, timestampMs } = input
  return {
    ...(timestampMs === undefined ? {} : { timestamp: timestampMs }),
    key: key === null ? null : bytesOf(key),
    value: body === null ? null : bytesOf(body),
    headers: headers === undefined ? noHeaders : headerBytes(headers),
  }
}

/** Bytes that a record takes in a request, about. */
export function recordSizeBytes({ key, value, headers }: AppendRecord): number {
  let size = 24 + (key?.length ?? 0) + (value?.length ?? 0)
  for (const header of headers) size += 8 + header.key.length + (header.value?.length ?? 0)
  return size
}

const noHeaders: AppendRecord['headers'] = []

function headerBytes(headers: NonNullable<RecordFields['headers']>): AppendRecord['headers'] {
  const pairs = Array.isArray(headers) ? (headers as readonly RecordHeader[]) : Object.entries(headers)
  return pairs.map(([name, value]) => ({ key: bytesOf(name), value: value === null ? null : bytesOf(value) }))
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  // From Buffer's pool: a buffer of its own for every small record would cost more than all the rest.
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value) // copies
}
