import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseTopicConfig, settingProblem, topicConfigEntries } from '../src/topic-config.ts'
import { topicSettings } from '../src/topic-settings.ts'

interface KafkaSettings {
  readonly keys: [name: string, type: string, initial: string][]
  readonly samples: string[]
  readonly accepted: Record<string, string[]>
}

/** What Kafka 4.4's own LogConfig said, captured by golden/TopicConfigOracle.java. */
const kafka: KafkaSettings = JSON.parse(readFileSync(new URL('golden/topic-config.json', import.meta.url), 'utf8'))

const config = (overrides: Record<string, string>) => {
  const { config: parsed, invalid } = parseTopicConfig(overrides)
  if (parsed === undefined) throw new Error(invalid)
  return parsed
}

describe('topic settings', () => {
  it('are those of Kafka with its defaults, but records are kept for ever', () => {
    const kafkas = [...topicSettings.values()].filter(({ name }) => !name.startsWith('pico.'))
    const ours = kafkas.map(({ name, type, defaultValue }) => [name, type, defaultValue])
    const theirs = kafka.keys.map(([name, type, initial]) => [name, type, name === 'retention.ms' ? '-1' : initial])
    expect(ours).toEqual(theirs)
  })

  it.each(kafka.keys.map(([name]) => name))('%s takes what Kafka takes and nothing else', (name) => {
    const ours = kafka.samples.filter((sample) => settingProblem(name, sample) === null)
    // Not a number is no ratio; Kafka forgets to look.
    const theirs = kafka.accepted[name]?.filter((sample) => sample !== 'NaN')
    expect(new Set(ours)).toEqual(new Set(theirs))
  })

  it('takes the default of every setting as a value of it', () => {
    for (const { name, defaultValue } of topicSettings.values()) expect(settingProblem(name, defaultValue)).toBeNull()
  })

  it.each([
    [{ 'retention.hours': '1' }, 'unknown topic setting "retention.hours"'],
    [{ 'retention.ms': 'soon' }, 'invalid value "soon" for retention.ms: must be a whole number, at least -1'],
    [{ 'cleanup.policy': 'archive' }, 'invalid value "archive" for cleanup.policy: must be one of compact, delete'],
    [
      { 'pico.schema': 'or/ders:1' },
      'invalid value "or/ders:1" for pico.schema: must be the name of a schema, or name:version',
    ],
    [{ 'pico.schema.mode': 'x' }, 'unknown topic setting "pico.schema.mode"'],
    [
      { 'pico.schema': 'orders:1', 'pico.schema.encoding': 'avro' },
      'invalid value "avro" for pico.schema.encoding: must be one of plain, confluent',
    ],
    [
      { 'pico.schema': ' ', 'pico.schema.validate': 'true' },
      'pico.schema.validate is true, and there is no pico.schema to hold records to',
    ],
    [
      { 'min.compaction.lag.ms': '10', 'max.compaction.lag.ms': '9' },
      'min.compaction.lag.ms is larger than max.compaction.lag.ms',
    ],
    [{ constructor: '1' }, 'unknown topic setting "constructor"'],
  ])('refuses %j and names the key', (overrides, message) => {
    expect(parseTopicConfig(overrides)).toEqual({ invalid: message })
  })

  it('act as set', () => {
    const overrides = {
      'max.message.bytes': ' 2000 ',
      'message.timestamp.type': 'LogAppendTime',
      'message.timestamp.before.max.ms': '1000',
      'message.timestamp.after.max.ms': '+2000',
      'compression.type': 'zstd',
      'cleanup.policy': 'delete, compact',
      'retention.ms': '86400000',
      'retention.bytes': '1000000',
    }
    expect(config(overrides)).toEqual({
      overrides: {
        ...overrides,
        'max.message.bytes': '2000',
        'message.timestamp.after.max.ms': '2000',
        'cleanup.policy': 'delete,compact',
      },
      maxMessageBytes: 2000,
      maxDecompressedMessageBytes: 2_147_483_639,
      segmentBytes: 1_073_741_824,
      messageTimestampType: 'LogAppendTime',
      messageTimestampBeforeMaxMs: 1000,
      messageTimestampAfterMaxMs: 2000,
      compressionType: 'zstd',
      compacted: true,
      retained: true,
      deleteRetentionMs: 86_400_000,
      minCompactionLagMs: 0,
      minCleanableDirtyRatio: 0.5,
      maxCompactionLagMs: Number.POSITIVE_INFINITY,
      retentionMs: 86_400_000,
      retentionBytes: 1_000_000,
      schema: null,
    })
  })

  it('are kept as Kafka shows them, whatever spaces, signs and cases they came with', () => {
    const given = {
      'segment.bytes': ' +2000000 ',
      preallocate: 'TRUE',
      'retention.bytes': '-7',
      'compression.type': ' lz4 ',
    }
    expect(config(given)).toMatchObject({
      overrides: {
        'segment.bytes': '2000000',
        preallocate: 'true',
        'retention.bytes': '-1',
        'compression.type': 'lz4',
      },
      segmentBytes: 2_000_000,
      compressionType: 'lz4',
    })
  })

  it('are the defaults where nothing is set, and the operator stands between', () => {
    expect(config({})).toMatchObject({
      maxMessageBytes: 1_048_588,
      retentionMs: -1,
      retentionBytes: -1,
      compacted: false,
    })
    const operator = { 'max.message.bytes': '500', 'retention.ms': '7' }
    expect(parseTopicConfig({ 'retention.ms': '9' }, operator).config).toMatchObject({
      overrides: { 'retention.ms': '9' },
      maxMessageBytes: 500,
      retentionMs: 9,
    })
    const entries = topicConfigEntries({ 'retention.ms': '9' }, operator)
    expect(entries).toHaveLength(kafka.keys.length + 3)
    expect(entries.filter(({ source }) => source !== 'default')).toEqual([
      { name: 'max.message.bytes', value: '500', type: 'int', source: 'operator' },
      { name: 'retention.ms', value: '9', type: 'long', source: 'topic' },
    ])
  })
})
