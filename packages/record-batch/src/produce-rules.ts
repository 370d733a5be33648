import type { TimestampType } from './batch-header.ts'
import type { CompressionCodec } from './compression.ts'

/** compression.type of a topic: `producer` keeps what was sent. */
export type CompressionType = 'producer' | 'uncompressed' | Exclude<CompressionCodec, 'none'>

/** What a topic's settings and the request say about a produced batch. Names and defaults are Kafka's. */
export type ProduceRules = {
  /** The request's version. Below 3, old message sets are taken and converted. */
  readonly produceVersion: number
  /** The clock, in milliseconds since 1970. */
  readonly nowMs: number
  /** max.message.bytes: of the whole batch, header included. Kafka: 1048588. */
  readonly maxMessageBytes: number
  /** segment.bytes: the largest batch a segment takes. Kafka: 1 GiB. */
  readonly segmentBytes: number
  /** message.timestamp.type. Kafka: CreateTime. */
  readonly timestampType: TimestampType
  /** message.timestamp.before.max.ms; `Infinity` for Kafka's default, no limit. */
  readonly timestampBeforeMaxMs: number
  /** message.timestamp.after.max.ms. Kafka: one hour. */
  readonly timestampAfterMaxMs: number
  /** cleanup.policy contains `compact`. */
  readonly isCompacted: boolean
  /** Kafka: producer. */
  readonly compressionType: CompressionType
  /** The most a compressed batch may decompress to; ours, Kafka bounds single records only. */
  readonly maxDecompressedBytes: number
}

/** Kafka's defaults for everything but the request's own version and the time. */
export const defaultProduceRules: Omit<ProduceRules, 'produceVersion' | 'nowMs'> = {
  maxMessageBytes: 1024 * 1024 + 12,
  segmentBytes: 1024 * 1024 * 1024,
  timestampType: 'CreateTime',
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: 60 * 60 * 1000,
  isCompacted: false,
  compressionType: 'producer',
  maxDecompressedBytes: 64 * 1024 * 1024,
}

/** The codec a batch has to be stored with. */
export function targetCodec(compressionType: CompressionType, sourceCodec: CompressionCodec): CompressionCodec {
  if (compressionType === 'producer') return sourceCodec
  return compressionType === 'uncompressed' ? 'none' : compressionType
}
