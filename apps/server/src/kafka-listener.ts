import type { KafkaTraffic } from '@pico/http-api'
import {
  type Broker,
  createKafkaApi,
  defaultKafkaApiSettings,
  defaultListenSettings,
  type GroupReader,
  type KafkaListener,
  listenKafka,
} from '@pico/kafka-api'
import { systemClock } from '@pico/log'
import type { SchemaJudge } from '@pico/schema-registry'
import type { Membership, Streams } from '@pico/streams'
import type { Logger } from 'pino'
import { type HostPort, parseHostPort } from './host-port.ts'
import type { KafkaConfig } from './serve-config.ts'
import { listening } from './startup-problems.ts'

export interface KafkaParts {
  readonly streams: Streams
  readonly schemas: SchemaJudge
  readonly membership: Membership
  readonly observer: KafkaTraffic
  readonly log: Logger
}

/** Every live node that serves Kafka clients: the others as they say in the database, this one as it is. */
function brokers({ node, nodes }: Membership, advertised: HostPort): Broker[] {
  const here = { nodeId: node.nodeId, ...advertised, rack: null }
  const live = nodes.flatMap(({ nodeId, addresses }): Broker[] => {
    if (nodeId === node.nodeId) return [here]
    const address = addresses['kafka']
    return address === undefined
      ? []
      : [{ nodeId, ...parseHostPort(address, `the address of node ${nodeId}`), rack: null }]
  })
  return live.length === 0 ? [here] : live
}

/** Serves Kafka clients. @throws StartupError */
export async function openKafka(
  kafka: KafkaConfig,
  { streams, schemas, membership, observer, log }: KafkaParts,
): Promise<{ listener: KafkaListener; groups: GroupReader }> {
  const { requestBytesMax, idleTimeoutMs, connectionsMax, listen } = kafka
  let advertised = kafka.advertise ?? listen
  const { groups } = defaultKafkaApiSettings
  const api = createKafkaApi(
    {
      streams,
      schemas,
      cluster: { brokers: () => brokers(membership, advertised) },
      clock: systemClock,
      log,
      observer,
    },
    {
      ...defaultKafkaApiSettings,
      autoCreateTopics: kafka.autoCreateTopics,
      defaultPartitions: kafka.defaultPartitions,
      replicationFactor: kafka.replicationFactor,
      requestBytesMax,
      idleTimeoutMs,
      groups: { ...groups, protocol: { ...groups.protocol, ...kafka.groups } },
    },
  )
  const settings = { ...defaultListenSettings, ...listen, requestBytesMax, idleTimeoutMs, connectionsMax }
  const listener = await listening('kafka-listen', listen, () => listenKafka({ api, log, observer }, settings))
  if (kafka.advertise === undefined) advertised = { host: listener.host, port: listener.port }
  return { listener, groups: api.groups }
}
