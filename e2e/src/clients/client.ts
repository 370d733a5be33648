import type { ReadRecord, TestRecord, WriterLimits } from './record.ts'

export const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Codec = (typeof codecs)[number]

/** How a producer is set up. */
export interface ProduceSettings {
  readonly codec: Codec
  readonly acks: 0 | 1 | 'all'
  readonly idempotence: boolean
}

/** Kafka client libraries and tools, each reduced to "write these", "read those". */
export interface KafkaClient {
  readonly name: string
  readonly limits: WriterLimits
  /** Fails when what it runs on is missing. */
  readonly tool: () => Promise<unknown>
  /** It can only read as a member of a consumer group. */
  readonly readsByGroup: boolean
  /**
   * Writes to partition 0, in order, letting the broker create the topic.
   * Returns the offset the broker answered for each record, where the client tells (never with acks=0).
   */
  write(bootstrap: string, topic: string, records: readonly TestRecord[], how: ProduceSettings): Promise<Offsets>
  /** Reads from offset 0 until it has the wanted number of records of each topic; fails after half a minute. */
  read(bootstrap: string, wanted: ReadonlyMap<string, number>): Promise<Map<string, ReadRecord[]>>
  /** What it can show of a record, when that is not everything. */
  shows?(record: TestRecord): TestRecord
}

/** One an element, or undefined when the client does not tell. */
export type Offsets = readonly number[] | undefined

export function propertiesOf(bootstrap: string, how: ProduceSettings): string[] {
  return [
    `bootstrap.servers=${bootstrap}`,
    `acks=${how.acks}`,
    `compression.type=${how.codec}`,
    `enable.idempotence=${how.idempotence}`,
  ]
}
