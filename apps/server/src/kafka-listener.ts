import type { KafkaTraffic } from '@pico/http-api'
import {
  createKafkaApi,
  defaultKafkaApiSettings,
  defaultListenSettings,
  type GroupReader,
  type KafkaListener,
  listenKafka,
} from '@pico/kafka-api'
import { systemClock } from '@pico/log'
import type { Streams } from '@pico/streams'
import type { Logger } from 'pino'
import type { KafkaConfig } from './serve-config.ts'
import { listening } from './startup-problems.ts'

export interface KafkaParts {
  readonly streams: Streams
  readonly observer: KafkaTraffic
  readonly log: Logger
}

/** Serves Kafka clients. @throws StartupError */
export async function openKafka(
  kafka: KafkaConfig,
  { streams, observer, log }: KafkaParts,
): Promise<{ listener: KafkaListener; groups: GroupReader }> {
  const { requestBytesMax, idleTimeoutMs, connectionsMax, listen } = kafka
  let advertised = kafka.advertise ?? listen
  const { groups } = defaultKafkaApiSettings
  const api = createKafkaApi(
    {
      streams,
      cluster: { brokers: () => [{ nodeId: streams.nodeId, ...advertised, rack: null }] },
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
