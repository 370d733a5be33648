import { InvalidDefaultsError } from './errors.ts'
import { parseTopicConfig } from './topic-config.ts'

export interface StreamsSettings {
  /** Partitions a topic may have. More are refused with a message that says how to raise this. */
  readonly partitionsMax: number
  /** Topic settings in force where a topic has none of its own, by their Kafka names. Not for all of them, see README. */
  readonly defaultTopicConfig: Readonly<Record<string, string>>
  /** How long after its last append a producer is remembered (Kafka's producer.id.expiration.ms). */
  readonly producerIdExpirationMs: number
  /** Topics whose rows are kept at hand. An open partition stays open whether or not its topic is among them. */
  readonly cachedTopicsMax: number
  /** Partitions looked up and opened together at most. */
  readonly openBatchMax: number
  /** How often streams whose end has come are looked for. They count as absent at once, however long that takes. */
  readonly sweepIntervalMs: number
  /** Streams deleted together at most. */
  readonly sweptTogetherMax: number
  /** Keys remembered in one pass of compaction by key; more are left to the next one. About 100 bytes each. */
  readonly compactionKeysMax: number
  /** Compaction by key writes objects of about this size. */
  readonly compactionObjectBytes: number
  /** How often SQL is asked what other nodes want of this one, should the news of it be lost. */
  readonly pollMs: number
  /** Bytes of records that may wait, in each stream, to be judged by its schema. */
  readonly judgingBytesMax: number
  /** Producer ids reserved at a time: a restart skips what is left of them. */
  readonly producerIdBlock: number
}

export const defaultStreamsSettings: StreamsSettings = {
  partitionsMax: 1,
  defaultTopicConfig: {},
  producerIdExpirationMs: 24 * 60 * 60 * 1000,
  cachedTopicsMax: 10_000,
  openBatchMax: 500,
  sweepIntervalMs: 1000,
  sweptTogetherMax: 200,
  compactionKeysMax: 500_000,
  compactionObjectBytes: 64 * 1024 * 1024,
  pollMs: 1000,
  judgingBytesMax: 16 * 1024 * 1024,
  producerIdBlock: 1000,
}

/** What is due, and what binds a schema, is found by SQL in what topics themselves say, so it would not see an operator's default. */
const topicOnly = [
  ...['retention.ms', 'retention.bytes', 'cleanup.policy', 'max.compaction.lag.ms'],
  ...['pico.schema', 'pico.schema.validate'],
]

/** @throws InvalidDefaultsError */
export function settingsInForce(given: Partial<StreamsSettings>): StreamsSettings {
  const settings = { ...defaultStreamsSettings, ...given }
  for (const name of topicOnly) {
    if (name in settings.defaultTopicConfig) throw new InvalidDefaultsError(`${name} can be set per topic only`)
  }
  const { config, invalid } = parseTopicConfig(settings.defaultTopicConfig)
  if (config === undefined) throw new InvalidDefaultsError(invalid)
  return { ...settings, defaultTopicConfig: config.overrides }
}
