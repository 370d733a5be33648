/** One header of a record. Names may repeat. */
export interface RecordHeaderBytes {
  /** UTF-8. */
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** What is appended. */
export interface AppendRecord {
  /** Milliseconds since 1970; the server's clock where it is missing. */
  readonly timestamp?: number
  readonly key: Uint8Array | null
  /** Null is Kafka's tombstone. */
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeaderBytes[]
}

/** What is read. */
export interface ReadRecord extends AppendRecord {
  readonly seq: number
  /** Milliseconds since 1970; -1 for none. */
  readonly timestamp: number
}
