import { type TopicSetting, topicSettings } from '@pico/streams'
import type { Broker, KafkaApiSettings } from '../dependencies.ts'
import type { ConfigEntry } from './config-entry.ts'
import { configSource } from './config-resource.ts'
import { brokerDefaults, brokerSynonyms } from './topic-configs.ts'
import { topicDocumentation } from './topic-documentation.ts'

interface BrokerKey {
  readonly name: string
  readonly type: ConfigEntry['type']
  /** Kafka's own default; undefined where it has none that means anything here. */
  readonly defaultValue?: string | null
  readonly value: string | null
  readonly documentation: string
}

/**
 * What a broker of Kafka would say of itself, as far as it means something here; keys of what is not here (replication, KRaft, SASL,
 * transactions, share groups…) are left out rather than told with values that nothing obeys. All are read-only: an operator gives them
 * on the command line.
 */
export function describeBrokerConfig(
  broker: Broker,
  settings: KafkaApiSettings,
  operatorDefaults: Readonly<Record<string, string>>,
): ConfigEntry[] {
  const keys = [...ownKeys(broker, settings), ...listenerKeys(settings), ...groupKeys(settings), ...logKeys]
  const own = keys.map(({ name, type, value, defaultValue, documentation }): ConfigEntry => {
    const builtIn = defaultValue === undefined ? [] : [{ name, value: defaultValue, source: configSource.default }]
    const isDefault = defaultValue !== undefined && value === defaultValue
    const given = isDefault ? [] : [{ name, value, source: configSource.staticBroker }]
    const synonyms = value === null ? [] : [...given, ...builtIn.filter((synonym) => synonym.value !== null)]
    const source = isDefault ? configSource.default : configSource.staticBroker
    return { name, value, type, readOnly: true, source, synonyms, documentation }
  })
  return [...own, ...topicDefaults(operatorDefaults)].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What topics get that do not say otherwise. */
function topicDefaults(operatorDefaults: Readonly<Record<string, string>>): ConfigEntry[] {
  return Object.entries(brokerSynonyms).flatMap(([topicName, name]) => {
    const [first, ...rest] = brokerDefaults(topicName, operatorDefaults)
    const type: TopicSetting['type'] = topicSettings.get(topicName)?.type ?? 'string'
    if (first === undefined) return []
    const documentation = `What topics have that do not set ${topicName}. ${topicDocumentation[topicName] ?? ''}`
    const { value, source } = first
    return [{ name, value, type, readOnly: true, source, synonyms: [first, ...rest], documentation }]
  })
}

function ownKeys(broker: Broker, settings: KafkaApiSettings): BrokerKey[] {
  const id = String(broker.nodeId)
  return [
    { name: 'broker.id', type: 'int', value: id, defaultValue: '-1', documentation: 'Id of this node.' },
    { name: 'node.id', type: 'int', value: id, documentation: 'Id of this node (--node-id).' },
    {
      name: 'broker.rack',
      type: 'string',
      value: broker.rack,
      defaultValue: null,
      documentation: 'Where this node is; there is no placement by racks.',
    },
    {
      name: 'advertised.listeners',
      type: 'list',
      value: `PLAINTEXT://${broker.host.includes(':') ? `[${broker.host}]` : broker.host}:${broker.port}`,
      documentation: 'Where clients are told to connect (--kafka-advertise).',
    },
    {
      name: 'auto.create.topics.enable',
      type: 'boolean',
      value: String(settings.autoCreateTopics),
      defaultValue: 'true',
      documentation: 'Whether a topic is created when a client that allows it asks for one that is missing.',
    },
    {
      name: 'num.partitions',
      type: 'int',
      value: String(settings.defaultPartitions),
      defaultValue: '1',
      documentation: 'Partitions of a topic whose creator does not say.',
    },
    {
      name: 'default.replication.factor',
      type: 'int',
      value: '1',
      defaultValue: '1',
      documentation: "Replicas of a topic whose creator does not say. There is always one: durability is the store's.",
    },
    {
      name: 'delete.topic.enable',
      type: 'boolean',
      value: 'true',
      defaultValue: 'true',
      documentation: 'Whether topics can be deleted.',
    },
    {
      name: 'authorizer.class.name',
      type: 'string',
      value: '',
      defaultValue: '',
      documentation: 'Who judges access: nobody, every client may do everything.',
    },
    {
      name: 'log.dirs',
      type: 'list',
      value: objectStorage,
      documentation: 'Where records are kept: one name, for the store that the operator gave (--storage).',
    },
  ]
}

/** What DescribeLogDirs calls the store. */
export const objectStorage = 'object-storage'
/** Partitions in one answer of DescribeTopicPartitions, at most (Kafka's max.request.partition.size.limit). */
export const partitionsPerAnswerMax = 2000

function listenerKeys(settings: KafkaApiSettings): BrokerKey[] {
  return [
    {
      name: 'socket.request.max.bytes',
      type: 'int',
      value: String(settings.requestBytesMax),
      defaultValue: '104857600',
      documentation: 'Largest request, in bytes; a larger one closes its connection (--kafka-max-request-size).',
    },
    {
      name: 'connections.max.idle.ms',
      type: 'long',
      value: String(settings.idleTimeoutMs),
      defaultValue: '600000',
      documentation: 'A connection over which nothing moves for so long is closed (--kafka-idle-timeout-sec).',
    },
    {
      name: 'fetch.max.bytes',
      type: 'int',
      value: String(settings.fetchBytesMax),
      defaultValue: '57671680',
      documentation: 'Most bytes of records in one answer to a fetch, but for a first batch that is larger.',
    },
    {
      name: 'max.incremental.fetch.session.cache.slots',
      type: 'int',
      value: '0',
      defaultValue: '1000',
      documentation: 'Fetch sessions kept: none, every fetch says all that it wants.',
    },
    {
      name: 'max.request.partition.size.limit',
      type: 'int',
      value: String(partitionsPerAnswerMax),
      defaultValue: '2000',
      documentation: 'Partitions that one answer to DescribeTopicPartitions has at most.',
    },
  ]
}

function groupKeys({ groups: { protocol } }: KafkaApiSettings): BrokerKey[] {
  const key = (name: string, type: BrokerKey['type'], value: number, defaultValue: string, documentation: string) => {
    return { name, type, value: String(value), defaultValue, documentation }
  }
  return [
    {
      name: 'group.coordinator.rebalance.protocols',
      type: 'list',
      value: 'classic',
      defaultValue: 'classic,consumer,streams',
      documentation: 'The protocols of groups that are spoken.',
    },
    key(
      'group.initial.rebalance.delay.ms',
      'int',
      protocol.groupInitialRebalanceDelayMs,
      '3000',
      'How long an empty group waits for more members after its first one (--kafka-group-initial-rebalance-delay-ms).',
    ),
    key(
      'group.min.session.timeout.ms',
      'int',
      protocol.groupMinSessionTimeoutMs,
      '6000',
      'Shortest session timeout that a member may ask for (--kafka-group-min-session-timeout-ms).',
    ),
    key(
      'group.max.session.timeout.ms',
      'int',
      protocol.groupMaxSessionTimeoutMs,
      '1800000',
      'Longest session timeout that a member may ask for (--kafka-group-max-session-timeout-ms).',
    ),
    key('group.max.size', 'int', protocol.groupMaxSize, '2147483647', 'Members that a group may have.'),
    key(
      'offset.metadata.max.bytes',
      'int',
      protocol.offsetMetadataMaxBytes,
      '4096',
      'Longest text that may be committed with an offset.',
    ),
    key(
      'offsets.retention.minutes',
      'int',
      Math.floor(protocol.offsetsRetentionMs / 60_000),
      '10080',
      'How long the offsets of a group without members are kept.',
    ),
    key(
      'offsets.retention.check.interval.ms',
      'long',
      protocol.offsetsRetentionCheckIntervalMs,
      '600000',
      'How often offsets that have expired are looked for.',
    ),
  ]
}

/** Kafka's other units of log.retention.ms, which tools look at: no limit either. */
const logKeys: readonly BrokerKey[] = [
  {
    name: 'log.retention.hours',
    type: 'int',
    value: '-1',
    defaultValue: '168',
    documentation: 'As log.retention.ms, which counts: no limit.',
  },
  {
    name: 'log.retention.minutes',
    type: 'int',
    value: null,
    defaultValue: null,
    documentation: 'As log.retention.ms, which counts.',
  },
  {
    name: 'log.cleaner.enable',
    type: 'boolean',
    value: 'true',
    defaultValue: 'true',
    documentation: 'Whether topics with the policy "compact" are compacted.',
  },
]
