/** What the engine needs to know of an entry: where it ends, and which offsets it has. */
export interface EntryHeader {
  readonly lengthBytes: number
  readonly baseOffset: number
  /** One past the entry's last offset. */
  readonly endOffset: number
  /** Milliseconds since the epoch; -1 for none. */
  readonly maxTimestampMs: number
}

/**
 * How the engine finds its way in entries it otherwise never reads. Entries delimit themselves and hold their own offsets
 * (a Kafka RecordBatch does).
 */
export interface EntryFormat {
  /** Bytes that `measure` needs. */
  readonly headerBytes: number
  /** Measures the entry that begins at `at`; the caller has checked that `headerBytes` are there. Allocates one small object at most. */
  measure(bytes: Uint8Array, at: number): EntryHeader
  /**
   * Carries the state that must live as long as the stream (for Kafka: the idempotent producers) over entries that are being packed:
   * `summaries` are those given at append, in offset order, one concatenation per run. Pure. Null when there is nothing to keep.
   */
  fold(state: Uint8Array | null, summaries: readonly Uint8Array[], nowMs: number): Uint8Array | null
}
