export interface ProducerStamp {
  readonly id: string
  readonly epoch: number
  readonly seq: number
}

/** What a protocol does for a producer: records into bodies, bodies to the server. */
export interface BatchSender<Input, Prepared extends PreparedRecord, Position> {
  /** Made at once: the caller may change its bytes afterwards. */
  prepare(input: Input): Prepared
  body(records: readonly Prepared[]): Uint8Array
  /** How many numbers a request of so many records takes. */
  numbersOf(recordCount: number): number
  /** One attempt. @throws PicoError */
  send(request: BatchRequest): Promise<Sent<Position>>
}

export interface BatchRequest {
  readonly body: Uint8Array
  readonly recordCount: number
  readonly stamp: ProducerStamp
  readonly signal: AbortSignal
}

export interface PreparedRecord {
  /** That it takes in a body, about. */
  readonly sizeBytes: number
}

export interface Sent<Position> {
  /** Where its records lie; null when the server no longer knows, as for a request that it had taken before. */
  readonly positionOf: ((index: number) => Position) | null
}

/** That a record is on its way. */
export interface Receipt<Position> {
  /**
   * Resolves when the record is durable, with its place: null where the server recognised a repetition, and its protocol does not tell
   * where the first one went. A rejection nobody waits for is told by `flush` and `close`.
   */
  readonly acknowledged: Promise<Position | null>
}
