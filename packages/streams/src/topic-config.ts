/** A topic's settings in force: what was set, over Kafka's defaults. */
export interface TopicConfig {
  /** As set, by their Kafka names: what DescribeConfigs reports as a topic override. */
  readonly overrides: Readonly<Record<string, string>>
  readonly maxMessageBytes: number
  readonly messageTimestampType: 'CreateTime' | 'LogAppendTime'
  readonly messageTimestampBeforeMaxMs: number
  readonly messageTimestampAfterMaxMs: number
  /** 'producer' keeps what was produced. */
  readonly compressionType: string
  readonly compacted: boolean
  readonly retentionMs: number
  readonly retentionBytes: number
}
