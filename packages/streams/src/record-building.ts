import { BatchBuilder, batchHeaderBytes, RecordBatchError, type RecordInput } from '@pico/record-batch'
import type { BatchMemory } from './batch-memory.ts'
import type { RecordsRefusal } from './path-streams.ts'
import type { TopicConfig } from './topic-config.ts'

/** What a request over HTTP may bring, where the topic does not say otherwise: all of it is one batch. */
export const httpBatchBytesMax = 16 * 1024 * 1024

/** What a record takes beside its value, where its key and headers are short. */
const usualRecordBytes = 32

export interface BuildingTerms {
  readonly config: TopicConfig
  readonly nowMs: number
  readonly lastTimestampMs: number
  readonly baseOffset: number
  readonly leaderEpoch: number
  /** Holds what is built. */
  readonly memory: BatchMemory
}

export interface BuiltRecords {
  /** Good until the memory is taken again. */
  readonly bytes: Uint8Array
  readonly firstTimestampMs: number
  readonly maxTimestampMs: number
}

/**
 * One RecordBatch v2 of these records, as it will be stored. Timestamps never go back: one below the last that the stream has, or that
 * was given here, is raised to it.
 */
export function buildRecords(
  records: readonly RecordInput[],
  { config, nowMs, lastTimestampMs, baseOffset, leaderEpoch, memory }: BuildingTerms,
): BuiltRecords | RecordsRefusal {
  const isStamped = config.messageTimestampType === 'LogAppendTime'
  const stampMs = Math.max(nowMs, lastTimestampMs)
  const bytesMax = largestBatch(config)
  const { compressionType } = config
  const codec = compressionType === 'producer' || compressionType === 'uncompressed' ? 'none' : compressionType
  const builder = new BatchBuilder({
    codec,
    baseOffset,
    partitionLeaderEpoch: leaderEpoch,
    memory: memory.take(
      batchHeaderBytes + records.reduce((sum, { value }) => sum + usualRecordBytes + (value?.length ?? 0), 0),
    ),
    ...(isStamped && { logAppendTimeMs: stampMs }),
  })
  let last = lastTimestampMs
  let first = -1
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === undefined) break
    const problem = recordProblem(record, config, nowMs)
    if (problem !== null) return { kind: 'invalid-record', index, message: problem }
    const given = isStamped ? stampMs : (record.timestamp ?? nowMs)
    last = Math.max(given, last)
    if (index === 0) first = last
    try {
      builder.append(record, last)
    } catch (error) {
      if (!(error instanceof RecordBatchError)) throw error
      return { kind: 'invalid-record', index, message: error.message }
    }
    if (codec === 'none' && builder.uncompressedBytes > bytesMax) return tooLarge(builder.uncompressedBytes, bytesMax)
  }
  const bytes = builder.build()
  if (bytes.length > bytesMax) return tooLarge(bytes.length, bytesMax)
  return { bytes, firstTimestampMs: first, maxTimestampMs: last }
}

/** A topic's own `max.message.bytes` holds over HTTP too; Kafka's default, 1 MiB, would be little for a document. */
function largestBatch({ overrides, maxMessageBytes, segmentBytes }: TopicConfig): number {
  const bytesMax = overrides['max.message.bytes'] === undefined ? httpBatchBytesMax : maxMessageBytes
  return Math.min(bytesMax, segmentBytes)
}

function recordProblem(record: RecordInput, config: TopicConfig, nowMs: number): string | null {
  if (config.compacted && (record.key === undefined || record.key === null)) {
    return 'the topic is compacted: a record needs a key'
  }
  const { timestamp } = record
  if (timestamp === undefined) return null
  if (!(Number.isSafeInteger(timestamp) && timestamp >= 0)) return `${timestamp} is no timestamp`
  if (config.messageTimestampType === 'LogAppendTime') return null
  const { messageTimestampBeforeMaxMs: beforeMs, messageTimestampAfterMaxMs: afterMs } = config
  if (nowMs - timestamp > beforeMs || timestamp - nowMs > afterMs) {
    return `the timestamp ${timestamp} is too far from the time now, ${nowMs}, for the topic's settings`
  }
  return null
}

function tooLarge(bytes: number, bytesMax: number): RecordsRefusal {
  return {
    kind: 'too-large',
    message: `a batch of ${bytes} bytes is larger than the ${bytesMax} that the stream allows`,
  }
}
