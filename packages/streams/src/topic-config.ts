import type { CompressionType } from '@pico/record-batch'
import { type TopicSchema, topicSchemaOf } from './topic-schema.ts'
import { listItems, type TopicSetting, topicSettings } from './topic-settings.ts'

/** A topic's settings in force: what was set, over the operator's defaults, over ours. */
export interface TopicConfig {
  /** As set, by their Kafka names: what DescribeConfigs reports as a topic override. */
  readonly overrides: Readonly<Record<string, string>>
  readonly maxMessageBytes: number
  /** What a batch may unpack to. */
  readonly maxDecompressedMessageBytes: number
  /** No batch may be larger: the one effect that segment.bytes has here. */
  readonly segmentBytes: number
  readonly messageTimestampType: 'CreateTime' | 'LogAppendTime'
  readonly messageTimestampBeforeMaxMs: number
  readonly messageTimestampAfterMaxMs: number
  /** 'producer' keeps what was produced. */
  readonly compressionType: CompressionType
  readonly compacted: boolean
  /** Old records are dropped by age and size. A topic may be compacted, and this too. */
  readonly retained: boolean
  /** How long a tombstone stays after compaction has first seen it. */
  readonly deleteRetentionMs: number
  /** No younger record is compacted away. */
  readonly minCompactionLagMs: number
  /** Compaction begins when so large a part of the bytes is new… */
  readonly minCleanableDirtyRatio: number
  /** …or when something has been new for so long; Infinity = it may be for ever. */
  readonly maxCompactionLagMs: number
  readonly retentionMs: number
  readonly retentionBytes: number
  /** What records are held to before anything is written; null where they are not. */
  readonly schema: TopicSchema | null
}

/** One line of a topic's full configuration: DescribeConfigs, and CreateTopics from version 5 on. */
export interface TopicConfigEntry {
  readonly name: string
  readonly value: string
  readonly type: TopicSetting['type']
  /** Where the value comes from: set on the topic, the operator's default for new and old topics alike, or built in. */
  readonly source: 'topic' | 'operator' | 'default'
}

const compressionTypes: readonly CompressionType[] = ['producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd']

export type TopicConfigOutcome =
  | { readonly config: TopicConfig; readonly invalid?: never }
  | { readonly config?: never; readonly invalid: string }

/**
 * The settings of a topic, or what is wrong with them, naming the key. Every key Kafka knows is taken, also where it has no effect
 * here. `overrides` of the result are as Kafka shows them: without spaces or plus signs. A schema is pinned already: see
 * topic-config-change.ts, which settings pass on their way into a topic.
 */
export function parseTopicConfig(
  overrides: Readonly<Record<string, string>>,
  operatorDefaults: Readonly<Record<string, string>> = {},
): TopicConfigOutcome {
  const canonical: Record<string, string> = {}
  for (const [name, value] of Object.entries(overrides)) {
    const problem = settingProblem(name, value)
    if (problem !== null) return { invalid: problem }
    // Tools write back what they read: none is not a schema of that name.
    if (name !== 'pico.schema' || value.trim() !== '') canonical[name] = canonicalValue(name, value)
  }
  const value = (name: string) => BigInt(valueInForce(name, canonical, operatorDefaults))
  if (value('min.compaction.lag.ms') > value('max.compaction.lag.ms')) {
    return { invalid: 'min.compaction.lag.ms is larger than max.compaction.lag.ms' }
  }
  if (isValidated(canonical, operatorDefaults) && valueInForce('pico.schema', canonical, operatorDefaults) === '') {
    return { invalid: 'pico.schema.validate is true, and there is no pico.schema to hold records to' }
  }
  return { config: topicConfigInForce(canonical, operatorDefaults) }
}

/** What is in force where nothing is set, by the operator's defaults: most streams set nothing, and share this. */
const unsetConfigs = new WeakMap<Readonly<Record<string, string>>, TopicConfig>()
const noOverrides: Readonly<Record<string, string>> = Object.freeze({})

/** What is in force, given settings that were found good when they were set. */
export function topicConfigInForce(
  overrides: Readonly<Record<string, string>>,
  operatorDefaults: Readonly<Record<string, string>>,
): TopicConfig {
  if (Object.keys(overrides).length > 0) return newConfig(overrides, operatorDefaults)
  const config = unsetConfigs.get(operatorDefaults) ?? newConfig(noOverrides, operatorDefaults)
  unsetConfigs.set(operatorDefaults, config)
  return config
}

function newConfig(
  overrides: Readonly<Record<string, string>>,
  operatorDefaults: Readonly<Record<string, string>>,
): TopicConfig {
  const value = (name: string) => valueInForce(name, overrides, operatorDefaults)
  const policies = listItems(value('cleanup.policy'))
  return {
    overrides,
    maxMessageBytes: Number(value('max.message.bytes')),
    maxDecompressedMessageBytes: Number(value('max.decompressed.message.bytes')),
    segmentBytes: Number(value('segment.bytes')),
    messageTimestampType: value('message.timestamp.type') === 'LogAppendTime' ? 'LogAppendTime' : 'CreateTime',
    messageTimestampBeforeMaxMs: Number(value('message.timestamp.before.max.ms')),
    messageTimestampAfterMaxMs: Number(value('message.timestamp.after.max.ms')),
    compressionType: compressionTypes.find((type) => type === value('compression.type')) ?? 'producer',
    compacted: policies.includes('compact'),
    retained: policies.includes('delete'),
    deleteRetentionMs: Number(value('delete.retention.ms')),
    minCompactionLagMs: Number(value('min.compaction.lag.ms')),
    minCleanableDirtyRatio: Number(value('min.cleanable.dirty.ratio')),
    maxCompactionLagMs: unlimitedAbove(Number(value('max.compaction.lag.ms'))),
    retentionMs: Number(value('retention.ms')),
    retentionBytes: Number(value('retention.bytes')),
    schema: isValidated(overrides, operatorDefaults)
      ? topicSchemaOf({
          pinned: value('pico.schema'),
          encoding: value('pico.schema.encoding'),
          isCompacted: policies.includes('compact'),
        })
      : null,
  }
}

/** All settings, in name order, with what is in force. */
export function topicConfigEntries(
  overrides: Readonly<Record<string, string>>,
  operatorDefaults: Readonly<Record<string, string>> = {},
): TopicConfigEntry[] {
  return [...topicSettings.values()].map(({ name, type }) => {
    const source = name in overrides ? 'topic' : name in operatorDefaults ? 'operator' : 'default'
    return { name, value: valueInForce(name, overrides, operatorDefaults), type, source }
  })
}

/** What is wrong with one setting, naming it, or null. */
export function settingProblem(name: string, value: string): string | null {
  const setting = topicSettings.get(name)
  if (setting === undefined) return `unknown topic setting ${JSON.stringify(name)}`
  const problem = setting.problem(value)
  return problem === null ? null : `invalid value ${JSON.stringify(value)} for ${name}: ${problem}`
}

function isValidated(
  overrides: Readonly<Record<string, string>>,
  operatorDefaults: Readonly<Record<string, string>>,
): boolean {
  return valueInForce('pico.schema.validate', overrides, operatorDefaults) === 'true'
}

function valueInForce(
  name: string,
  overrides: Readonly<Record<string, string>>,
  operatorDefaults: Readonly<Record<string, string>>,
): string {
  return overrides[name] ?? operatorDefaults[name] ?? topicSettings.get(name)?.defaultValue ?? ''
}

function canonicalValue(name: string, value: string): string {
  const setting = topicSettings.get(name)
  switch (setting?.type) {
    case 'int':
    case 'long': {
      const number = BigInt(value.trim().replace('+', ''))
      // To Kafka any negative size is no limit.
      return String(name === 'retention.bytes' && number < 0n ? -1n : number)
    }
    case 'boolean':
      return value.trim().toLowerCase()
    case 'list':
      return [...new Set(listItems(value))].join(',')
    default:
      return value.trim()
  }
}

/** Kafka's largest value is its way to say "for ever". */
function unlimitedAbove(value: number): number {
  return value > Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : value
}
