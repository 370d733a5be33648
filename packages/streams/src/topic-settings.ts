import { schemaNameProblem } from './topic-schema.ts'

/**
 * Kafka's topic settings, all of those that Apache Kafka 4.4 knows (its LogConfig), with its defaults and its limits.
 * One differs: `retention.ms` is -1, because records are kept until somebody asks for less. Those that begin with `pico.` are our own.
 */
export interface TopicSetting {
  readonly name: string
  readonly type: 'boolean' | 'string' | 'int' | 'long' | 'double' | 'list'
  /** As Kafka writes it. */
  readonly defaultValue: string
  /** What is wrong with this value, or null. Surrounding spaces never matter. */
  readonly problem: (value: string) => string | null
}

const int32Max = 2n ** 31n - 1n
const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const dayMs = 86_400_000

const settings: readonly TopicSetting[] = [
  list('cleanup.policy', 'delete', oneOf('compact', 'delete')),
  int('compression.gzip.level', -1, (value) => value === -1n || (value >= 1n && value <= 9n), '1 to 9, or -1'),
  int('compression.lz4.level', 9, ...between(1n, 17n)),
  text('compression.type', 'producer', oneOf('uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer')),
  int('compression.zstd.level', 3, ...between(-131_072n, 22n)),
  long('delete.retention.ms', dayMs, ...atLeast(0n)),
  boolean('errors.deadletterqueue.group.enable'),
  long('file.delete.delay.ms', 60_000, ...atLeast(0n)),
  long('flush.messages', int64Max, ...atLeast(1n)),
  long('flush.ms', int64Max, ...atLeast(0n)),
  list('follower.replication.throttled.replicas', '', throttledReplicas),
  int('index.interval.bytes', 4096, ...atLeast(0n)),
  list('leader.replication.throttled.replicas', '', throttledReplicas),
  long('local.retention.bytes', -2, ...atLeast(-2n)),
  long('local.retention.ms', -2, ...atLeast(-2n)),
  long('max.compaction.lag.ms', int64Max, ...atLeast(1n)),
  int('max.decompressed.message.bytes', 2_147_483_639, ...between(1n, 2_147_483_639n)),
  int('max.message.bytes', 1_048_588, ...atLeast(0n)),
  long('message.timestamp.after.max.ms', 3_600_000, ...atLeast(0n)),
  long('message.timestamp.before.max.ms', int64Max, ...atLeast(0n)),
  text('message.timestamp.type', 'CreateTime', oneOf('CreateTime', 'LogAppendTime')),
  { name: 'min.cleanable.dirty.ratio', type: 'double', defaultValue: '0.5', problem: ratioProblem },
  long('min.compaction.lag.ms', 0, ...atLeast(0n)),
  int('min.insync.replicas', 1, ...atLeast(1n)),
  text('pico.schema', '', schemaNameProblem),
  text('pico.schema.encoding', 'plain', oneOf('plain', 'confluent')),
  boolean('pico.schema.validate'),
  boolean('preallocate'),
  long('remote.copy.lag.bytes', -1, ...atLeast(-1n)),
  long('remote.copy.lag.ms', 0, ...atLeast(-1n)),
  boolean('remote.log.copy.disable'),
  boolean('remote.log.delete.on.disable'),
  boolean('remote.storage.enable'),
  long('retention.bytes', -1, ...atLeast(int64Min)),
  long('retention.ms', -1, ...atLeast(-1n)),
  int('segment.bytes', 1_073_741_824, ...atLeast(1_048_576n)),
  int('segment.index.bytes', 10_485_760, ...atLeast(4n)),
  long('segment.jitter.ms', 0, ...atLeast(0n)),
  long('segment.ms', 7 * dayMs, ...atLeast(1n)),
  boolean('unclean.leader.election.enable'),
]

/** By name, in name order. */
export const topicSettings: ReadonlyMap<string, TopicSetting> = new Map(
  settings.map((setting) => [setting.name, setting]),
)

/** A LIST value as Kafka splits it: an empty one has no items. */
export function listItems(value: string): string[] {
  const trimmed = value.trim()
  return trimmed === '' ? [] : trimmed.split(/\s*,\s*/)
}

function int(name: string, initial: number, allowed: (value: bigint) => boolean, wanted: string): TopicSetting {
  const problem = (value: string) => integerProblem(value, -int32Max - 1n, int32Max, allowed, wanted)
  return { name, type: 'int', defaultValue: String(initial), problem }
}

function long(
  name: string,
  initial: number | bigint,
  allowed: (value: bigint) => boolean,
  wanted: string,
): TopicSetting {
  const problem = (value: string) => integerProblem(value, int64Min, int64Max, allowed, wanted)
  return { name, type: 'long', defaultValue: String(initial), problem }
}

function boolean(name: string): TopicSetting {
  const problem = (value: string) => (/^(true|false)$/i.test(value.trim()) ? null : 'must be true or false')
  return { name, type: 'boolean', defaultValue: 'false', problem }
}

function text(name: string, defaultValue: string, itemProblem: (item: string) => string | null): TopicSetting {
  return { name, type: 'string', defaultValue, problem: (value) => itemProblem(value.trim()) }
}

function list(name: string, defaultValue: string, itemProblem: (item: string) => string | null): TopicSetting {
  const problem = (value: string) => {
    const items = listItems(value)
    // Kafka's throttle lists have '*' for all replicas, alone.
    if (itemProblem === throttledReplicas && items.length === 1 && items[0] === '*') return null
    return items.map(itemProblem).find((found) => found !== null) ?? null
  }
  return { name, type: 'list', defaultValue, problem }
}

function oneOf(...allowed: readonly string[]): (item: string) => string | null {
  return (item) => (allowed.includes(item) ? null : `must be one of ${allowed.join(', ')}`)
}

function throttledReplicas(item: string): string | null {
  return /^\d+:\d+$/.test(item) ? null : 'must be partition:broker,partition:broker,… or *'
}

function atLeast(min: bigint): [(value: bigint) => boolean, string] {
  return [(value) => value >= min, `at least ${min}`]
}

function between(min: bigint, max: bigint): [(value: bigint) => boolean, string] {
  return [(value) => value >= min && value <= max, `${min} to ${max}`]
}

function integerProblem(
  value: string,
  min: bigint,
  max: bigint,
  allowed: (value: bigint) => boolean,
  wanted: string,
): string | null {
  const trimmed = value.trim()
  if (!/^[+-]?\d{1,19}$/.test(trimmed)) return `must be a whole number, ${wanted}`
  const number = BigInt(trimmed.replace('+', ''))
  return number >= min && number <= max && allowed(number) ? null : `must be ${wanted}`
}

function ratioProblem(value: string): string | null {
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return number >= 0 && number <= 1 ? null : 'must be a number from 0 to 1'
}
