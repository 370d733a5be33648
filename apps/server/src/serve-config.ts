import { z } from 'zod'
import { parseByteSize } from './byte-size.ts'
import { StartupError, UsageError } from './exit-errors.ts'
import { formatHostPort, type HostPort, isLoopback, isWildcard, parseHostPort } from './host-port.ts'
import { type HttpConfig, httpConfig, parseHttpAddress, parseOrigins, requireUnexposed } from './http-config.ts'
import { type MetadataUrl, parseMetadataUrl } from './metadata-url.ts'
import type { ServeArguments } from './serve-flags.ts'
import { parseStorage, parseWal, type StoreUri, type WalUri } from './store-uri.ts'
import { walConfig } from './wal-config.ts'

export interface KafkaConfig {
  readonly listen: HostPort
  /** Undefined: where it listens, once the port is known. */
  readonly advertise: HostPort | undefined
  readonly partitionsMax: number
  readonly defaultPartitions: number
  readonly replicationFactor: 'any' | 'strict'
  readonly autoCreateTopics: boolean
  readonly requestBytesMax: number
  readonly connectionsMax: number
  readonly idleTimeoutMs: number
  /** Rules of consumer groups, by the names of @pico/group-coordinator. */
  readonly groups: {
    readonly groupInitialRebalanceDelayMs: number
    readonly groupMinSessionTimeoutMs: number
    readonly groupMaxSessionTimeoutMs: number
  }
}

/** All that a server needs to know, as plain data. */
export interface ServerConfig {
  readonly nodeId: number
  readonly clusterId: string
  readonly slots: number
  readonly heartbeatMs: number
  readonly nodeTtlMs: number
  readonly metadata: MetadataUrl
  readonly storage: StoreUri
  readonly wal: WalUri
  readonly http: HttpConfig
  /** Null: no health, no metrics, no admin API. */
  readonly admin: { readonly listen: HostPort } | null
  /** Null: named schemas are not served in Confluent's protocol. */
  readonly schemaRegistry: { readonly listen: HostPort } | null
  /** Null: Kafka is not served. */
  readonly kafka: KafkaConfig | null
  readonly walCacheBytes: number
  readonly blockCacheBytes: number
  readonly packBytes: number
  readonly packIntervalMs: number
  readonly maintenanceIntervalMs: number
  /** How long it goes on serving, no longer ready, before it stops. */
  readonly shutdownDrainMs: number
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
}

const schema = z.object({
  'node-id': wholeNumber(1),
  'cluster-id': z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'is not 1 to 64 letters, digits, dots, dashes or underscores'),
  slots: wholeNumber(0),
  'heartbeat-ms': wholeNumber(10),
  'node-ttl-ms': wholeNumber(100),
  listen: parsed(parseHostPort, '--listen'),
  'no-http': z.boolean(),
  protocol: z.enum(['pico', 'ds']),
  'ds-listen': parsed(parseHostPort, '--ds-listen').optional(),
  'schema-registry-listen': parsed(parseHostPort, '--schema-registry-listen').optional(),
  'http-address': parsed(parseHttpAddress).optional(),
  'cors-origin': parsed(parseOrigins).optional(),
  'long-poll-timeout-sec': wholeNumber(1),
  'sse-max-duration-sec': wholeNumber(1),
  routing: z.enum(['redirect', 'local']),
  'admin-listen': parsed(parseHostPort, '--admin-listen'),
  'no-admin': z.boolean(),
  'kafka-listen': parsed(parseHostPort, '--kafka-listen'),
  'kafka-advertise': parsed(parseHostPort, '--kafka-advertise').optional(),
  'no-kafka': z.boolean(),
  'kafka-max-partitions': wholeNumber(1),
  'kafka-default-partitions': wholeNumber(1),
  'kafka-replication-factor': z.enum(['any', 'strict']),
  'kafka-auto-create-topics': z.enum(['true', 'false']).transform((value) => value === 'true'),
  'kafka-max-request-size': parsed(parseByteSize, '--kafka-max-request-size'),
  'kafka-max-connections': wholeNumber(1),
  'kafka-idle-timeout-sec': wholeNumber(1),
  'kafka-group-initial-rebalance-delay-ms': wholeNumber(0),
  'kafka-group-min-session-timeout-ms': wholeNumber(1),
  'kafka-group-max-session-timeout-ms': wholeNumber(1),
  auth: z.enum(['none', 'required']),
  'insecure-allow-remote': z.boolean(),
  'meta-url': parsed(parseMetadataUrl),
  storage: parsed(parseStorage),
  wal: parsed(parseWal).optional(),
  'wal-cache-size': parsed(parseByteSize, '--wal-cache-size'),
  'block-cache-size': parsed(parseByteSize, '--block-cache-size'),
  'wal-upload-threshold': parsed(parseByteSize, '--wal-upload-threshold'),
  'wal-upload-interval-ms': wholeNumber(1),
  'maintenance-interval-ms': wholeNumber(1),
  'shutdown-drain-sec': wholeNumber(0),
  'log-level': z.enum(['debug', 'info', 'warn', 'error']),
})

export type ServeSettings = z.output<typeof schema>

/** @throws UsageError for what cannot be understood, StartupError for what is refused; both name the flag */
export function serverConfig(given: ServeArguments): ServerConfig {
  const checked = schema.safeParse(given)
  if (!checked.success) throw usageError(checked.error)
  const settings = checked.data
  if (settings.auth === 'required') {
    throw new StartupError('--auth required is not available yet in this version: there are no tokens to ask for')
  }
  const { storage, 'heartbeat-ms': heartbeatMs, 'node-ttl-ms': nodeTtlMs } = settings
  if (nodeTtlMs < 2 * heartbeatMs) {
    throw new StartupError(
      `--node-ttl-ms ${nodeTtlMs} is less than twice --heartbeat-ms ${heartbeatMs}: one lost heartbeat would end the node`,
    )
  }
  return {
    nodeId: settings['node-id'],
    clusterId: settings['cluster-id'],
    slots: settings.slots,
    heartbeatMs,
    nodeTtlMs,
    metadata: settings['meta-url'],
    storage,
    wal: walConfig(settings.wal, storage, settings['meta-url']),
    http: httpConfig(settings),
    admin: settings['no-admin'] ? null : adminConfig(settings),
    schemaRegistry: schemaRegistryConfig(settings),
    kafka: settings['no-kafka'] ? null : kafkaConfig(settings),
    walCacheBytes: settings['wal-cache-size'],
    blockCacheBytes: settings['block-cache-size'],
    packBytes: settings['wal-upload-threshold'],
    packIntervalMs: settings['wal-upload-interval-ms'],
    maintenanceIntervalMs: settings['maintenance-interval-ms'],
    shutdownDrainMs: settings['shutdown-drain-sec'] * 1000,
    logLevel: settings['log-level'],
  }
}

function adminConfig(settings: ServeSettings): ServerConfig['admin'] {
  return { listen: requireUnexposed('admin-listen', settings['admin-listen'], settings) }
}

function schemaRegistryConfig(settings: ServeSettings): ServerConfig['schemaRegistry'] {
  const listen = settings['schema-registry-listen']
  if (listen === undefined) return null
  return { listen: requireUnexposed('schema-registry-listen', listen, settings) }
}

function kafkaConfig(settings: ServeSettings): KafkaConfig {
  const listen = settings['kafka-listen']
  const advertise = settings['kafka-advertise']
  const shown = formatHostPort(listen)
  if (!isLoopback(listen.host) && !settings['insecure-allow-remote']) {
    throw new StartupError(
      `--kafka-listen ${shown} is beyond loopback, and the Kafka listener has no authentication: give --insecure-allow-remote if its network is trusted`,
    )
  }
  if (isWildcard(listen.host) && advertise === undefined) {
    throw new StartupError(
      `--kafka-listen ${shown} is no address that a client could connect to: give --kafka-advertise <host>:<port>`,
    )
  }
  if (advertise !== undefined && (isWildcard(advertise.host) || advertise.port === 0)) {
    throw new StartupError(
      `--kafka-advertise ${formatHostPort(advertise)} is no address that a client could connect to`,
    )
  }
  return {
    listen,
    advertise,
    ...partitionsConfig(settings),
    replicationFactor: settings['kafka-replication-factor'],
    autoCreateTopics: settings['kafka-auto-create-topics'],
    requestBytesMax: settings['kafka-max-request-size'],
    connectionsMax: settings['kafka-max-connections'],
    idleTimeoutMs: settings['kafka-idle-timeout-sec'] * 1000,
    groups: groupsConfig(settings),
  }
}

function partitionsConfig(settings: ServeSettings): Pick<KafkaConfig, 'partitionsMax' | 'defaultPartitions'> {
  const partitionsMax = settings['kafka-max-partitions']
  const defaultPartitions = settings['kafka-default-partitions']
  if (defaultPartitions > partitionsMax) {
    throw new StartupError(
      `--kafka-default-partitions ${defaultPartitions} is more than --kafka-max-partitions ${partitionsMax}`,
    )
  }
  return { partitionsMax, defaultPartitions }
}

function groupsConfig(settings: ServeSettings): KafkaConfig['groups'] {
  const groupMinSessionTimeoutMs = settings['kafka-group-min-session-timeout-ms']
  const groupMaxSessionTimeoutMs = settings['kafka-group-max-session-timeout-ms']
  if (groupMinSessionTimeoutMs > groupMaxSessionTimeoutMs) {
    throw new StartupError(
      `--kafka-group-min-session-timeout-ms ${groupMinSessionTimeoutMs} is more than --kafka-group-max-session-timeout-ms ${groupMaxSessionTimeoutMs}`,
    )
  }
  const groupInitialRebalanceDelayMs = settings['kafka-group-initial-rebalance-delay-ms']
  return { groupInitialRebalanceDelayMs, groupMinSessionTimeoutMs, groupMaxSessionTimeoutMs }
}

/** Text that a parser of ours reads: what it throws names the flag already. */
function parsed<T>(parse: (text: string, flag: string) => T, flag = '') {
  return z.string().transform((text, context) => {
    try {
      return parse(text, flag)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      context.addIssue({ code: 'custom', message: error.message, params: { complete: true } })
      return z.NEVER
    }
  })
}

function wholeNumber(least: number) {
  const problem = `is not a whole number of at least ${least}`
  return z
    .string()
    .regex(/^\d{1,15}$/, problem)
    .transform(Number)
    .refine((value) => value >= least, problem)
}

function usageError({ issues }: z.ZodError): UsageError {
  const lines = issues.map((issue) => {
    const complete = issue.code === 'custom' && issue.params?.['complete'] === true
    return complete ? issue.message : `--${issue.path.join('.')} ${issue.message}`
  })
  return new UsageError(lines.join('\n'))
}
