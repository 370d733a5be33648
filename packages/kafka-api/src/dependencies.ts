import type { SchemaJudge } from '@pico/schema-registry'
import type { Streams } from '@pico/streams'
import type { Clock } from './clock.ts'
import type { Explain } from './explainer.ts'
import type { Groups } from './groups/group-host.ts'
import { defaultGroupHostSettings, type GroupHostSettings } from './groups/settings.ts'
import type { Logger } from './observer.ts'

/** A node as clients are told to reach it. */
export interface Broker {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** Who is there. */
export interface Cluster {
  /** Every live node that serves Kafka clients, by id, this one among them until it leaves. Never empty: a client that is told of no broker gives up for good. */
  brokers(): readonly Broker[]
}

/** The broker that clients are to take for the controller: any would do, and all nodes name the same one. */
export function controllerId(brokers: readonly Broker[]): number {
  return brokers[0]?.nodeId ?? -1
}

export interface KafkaApiSettings {
  /** Metadata for an unknown topic creates it, where the client allows it. */
  readonly autoCreateTopics: boolean
  /** Partitions of a topic whose creator does not say. */
  readonly defaultPartitions: number
  /**
   * `any`: every replication factor of at least 1 is accepted, and reported as 1, since durability is the object store's;
   * `strict`: only 1 (or the default, -1), as a one-broker Kafka would.
   */
  readonly replicationFactor: 'any' | 'strict'
  /** Largest sum of record bytes in one Fetch answer, whatever the client asks for (Kafka's fetch.max.bytes). */
  readonly fetchBytesMax: number
  /** What the listener was told (ListenSettings): for DescribeConfigs only. */
  readonly requestBytesMax: number
  readonly idleTimeoutMs: number
  readonly groups: GroupHostSettings
}

export const defaultKafkaApiSettings: KafkaApiSettings = {
  autoCreateTopics: true,
  defaultPartitions: 1,
  replicationFactor: 'any',
  fetchBytesMax: 55 * 1024 * 1024,
  requestBytesMax: 100 * 1024 * 1024,
  idleTimeoutMs: 10 * 60 * 1000,
  groups: defaultGroupHostSettings,
}

/** What handlers work with. */
export interface Dependencies {
  readonly streams: Streams
  readonly groups: Groups
  readonly schemas: SchemaJudge
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
  readonly settings: KafkaApiSettings
  /** Ends every wait of a long poll, now and later: the server is going down. */
  readonly draining: AbortSignal
  /** The Kafka error code for a failure that was thrown, and a log line for it. */
  readonly explain: Explain
}
