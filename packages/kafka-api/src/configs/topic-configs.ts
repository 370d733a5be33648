import { type TopicConfig, type TopicConfigEntry, topicConfigEntries, topicSettings } from '@pico/streams'
import type { ConfigEntry, ConfigSynonym } from './config-entry.ts'
import { configSource } from './config-resource.ts'
import { topicDocumentation } from './topic-documentation.ts'

/**
 * The broker's key that gives a topic's key its default (Kafka's ServerTopicConfigSynonyms), where there is one. In Kafka those in
 * hours and minutes stand behind some of them; here every default is told in the unit of the topic's key.
 */
export const brokerSynonyms: Readonly<Record<string, string>> = {
  'cleanup.policy': 'log.cleanup.policy',
  'compression.gzip.level': 'compression.gzip.level',
  'compression.lz4.level': 'compression.lz4.level',
  'compression.type': 'compression.type',
  'compression.zstd.level': 'compression.zstd.level',
  'delete.retention.ms': 'log.cleaner.delete.retention.ms',
  'file.delete.delay.ms': 'log.segment.delete.delay.ms',
  'flush.messages': 'log.flush.interval.messages',
  'flush.ms': 'log.flush.interval.ms',
  'index.interval.bytes': 'log.index.interval.bytes',
  'local.retention.bytes': 'log.local.retention.bytes',
  'local.retention.ms': 'log.local.retention.ms',
  'max.compaction.lag.ms': 'log.cleaner.max.compaction.lag.ms',
  'max.decompressed.message.bytes': 'max.decompressed.message.bytes',
  'max.message.bytes': 'message.max.bytes',
  'message.timestamp.after.max.ms': 'log.message.timestamp.after.max.ms',
  'message.timestamp.before.max.ms': 'log.message.timestamp.before.max.ms',
  'message.timestamp.type': 'log.message.timestamp.type',
  'min.cleanable.dirty.ratio': 'log.cleaner.min.cleanable.ratio',
  'min.compaction.lag.ms': 'log.cleaner.min.compaction.lag.ms',
  'min.insync.replicas': 'min.insync.replicas',
  preallocate: 'log.preallocate',
  'remote.copy.lag.bytes': 'log.remote.copy.lag.bytes',
  'remote.copy.lag.ms': 'log.remote.copy.lag.ms',
  'retention.bytes': 'log.retention.bytes',
  'retention.ms': 'log.retention.ms',
  'segment.bytes': 'log.segment.bytes',
  'segment.index.bytes': 'log.index.size.max.bytes',
  'segment.jitter.ms': 'log.roll.jitter.ms',
  'segment.ms': 'log.roll.ms',
  'unclean.leader.election.enable': 'unclean.leader.election.enable',
}

const sources: Readonly<Record<TopicConfigEntry['source'], number>> = {
  topic: configSource.topic,
  operator: configSource.staticBroker,
  default: configSource.default,
}

/** Kafka's number for where a topic's setting comes from. */
export function topicConfigSource(source: TopicConfigEntry['source']): number {
  return sources[source]
}

/** Every key that a topic of Kafka 4.4 has, in name order. */
export function describeTopicConfig(
  { overrides }: Pick<TopicConfig, 'overrides'>,
  operatorDefaults: Readonly<Record<string, string>>,
): ConfigEntry[] {
  return topicConfigEntries(overrides, operatorDefaults).map(({ name, value, type, source }) => ({
    name,
    value,
    type,
    readOnly: false,
    source: topicConfigSource(source),
    synonyms: [...overrideOf(name, overrides), ...brokerDefaults(name, operatorDefaults)],
    documentation: topicDocumentation[name] ?? '',
  }))
}

function overrideOf(name: string, overrides: Readonly<Record<string, string>>): ConfigSynonym[] {
  const value = overrides[name]
  return value === undefined ? [] : [{ name, value, source: configSource.topic }]
}

/** What a topic without settings of its own gets, by the name the broker has for it. */
export function brokerDefaults(name: string, operatorDefaults: Readonly<Record<string, string>>): ConfigSynonym[] {
  const brokerName = brokerSynonyms[name]
  const setting = topicSettings.get(name)
  if (brokerName === undefined || setting === undefined) return []
  const builtIn = { name: brokerName, value: setting.defaultValue, source: configSource.default }
  const value = operatorDefaults[name]
  return value === undefined ? [builtIn] : [{ name: brokerName, value, source: configSource.staticBroker }, builtIn]
}
