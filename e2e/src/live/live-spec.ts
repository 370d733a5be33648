/** What the live program is asked for, as JSON in its argument. */
export interface LiveSpec {
  readonly port: number
  readonly serverPid: number
  readonly streams: number
  /** Half by events, half by long polls, as many on each stream. */
  readonly readers: number
  /** Of all streams together. */
  readonly appendsPerSecond: number
  readonly seconds: number
  /** Appended to one more stream while a reader of it is stuck. */
  readonly stuckBytes: number
  readonly stuckBytesPerSecond: number
}

/** In milliseconds, over all readers. */
export interface Delivery {
  readonly appends: number
  /** Records received, over all readers: appends times readers of a stream, or it is an error. */
  readonly received: number
  readonly fromSent: Percentiles
  readonly fromAcknowledged: Percentiles
}

export interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface LiveReport {
  /** By how much the server's memory grew when all readers connected and nothing happened, over their number. */
  readonly idleReaderBytes: number
  readonly idleCpuShare: number
  /** Of one core, while records were delivered. */
  readonly serverCpuShare: number
  readonly loadCpuShare: number
  readonly delivery: Delivery
  /** Of the same readers while one on another stream was stuck. */
  readonly besideStuck: Delivery
  /** By how much the server's memory grew at most, over what it was when the same was appended with nobody stuck. */
  readonly stuckGrowthBytes: number
  /** The stuck reader had all, in order, when it read on; over as many connections more. */
  readonly stuckReconnects: number
}
