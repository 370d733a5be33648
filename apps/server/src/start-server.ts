import type { HttpListener } from '@pico/http-api'
import { type LogSettings, openLog, systemClock } from '@pico/log'
import { type Membership, openStreams, recordBatchEntries, type Streams } from '@pico/streams'
import type { Logger } from 'pino'
import { abortOldUploads } from './abandoned-uploads.ts'
import { adminBackend, openWatch, urlOf, type Watch } from './admin-listener.ts'
import { Closers } from './closers.ts'
import type { FaultPoint } from './faults.ts'
import { formatHostPort, type HostPort } from './host-port.ts'
import { advertisedHttpAddress } from './http-config.ts'
import { openHttp, openSchemaRegistryListener } from './http-listeners.ts'
import { openKafka } from './kafka-listener.ts'
import { addressesOf, type NodeRuns, openMetadata } from './open-persistence.ts'
import { openSchemas } from './open-schemas.ts'
import { openStores } from './open-stores.ts'
import { metadataProbe, meteredProbeMs, storeProbe } from './probes.ts'
import type { ServerConfig } from './serve-config.ts'
import { explained } from './startup-problems.ts'
import { storagePromises } from './storage-promise.ts'

export interface ServerComponents {
  readonly log: Logger
  readonly fault?: FaultPoint | null
  /** For a process that starts a server again after it was fenced. */
  readonly runs?: NodeRuns
}

export interface RunningServer {
  readonly nodeId: number
  readonly nodeEpoch: number
  /** Where Kafka clients connect; null when they cannot. So are those that follow. */
  readonly kafka: HostPort | null
  /** Where `--listen` serves streams over HTTP. */
  readonly http: HostPort | null
  /** Where `--ds-listen` serves Durable Streams. */
  readonly durableStreams: HostPort | null
  /** Where `--schema-registry-listen` serves named schemas. */
  readonly schemaRegistry: HostPort | null
  /** Where health, metrics and the admin API are. */
  readonly admin: HostPort | null
  /** Resolves when this run of the node may not go on: others took it for dead, or another process has its id. */
  readonly fenced: Promise<'fenced'>
  /** Says that it is not ready, serves on for as long as it was told, lets requests at hand finish, makes everything durable, closes. */
  close(): Promise<void>
}

/** Requests at hand get so long to finish when the server stops. */
const drainMs = 5_000

/**
 * Puts a server together: opens what it needs in order of dependence, and closes it in reverse.
 * @throws StartupError, one line that says what to look at; nothing is left open then
 */
export async function startServer(config: ServerConfig, components: ServerComponents): Promise<RunningServer> {
  const closers = new Closers()
  try {
    return await open(config, components, closers)
  } catch (error) {
    await closers
      .close()
      .catch((failure: unknown) => components.log.error({ err: failure }, 'closing after a failed start'))
    throw error
  }
}

async function open(
  config: ServerConfig,
  { log, fault = null, runs = { latest: null } }: ServerComponents,
  closers: Closers,
): Promise<RunningServer> {
  const watch = await openWatch(config, log)
  const { readiness, metrics, listener: admin } = watch
  if (admin !== null) closers.add(() => admin.close(drainMs))

  const { store, wal, bare, buckets } = await openStores({ config, fault, closers })
  for (const [flag, bucket] of buckets) metrics.watchStore(flag, () => bucket.counts)
  const onProblem = (message: string, error: unknown) => log.warn({ err: error }, message)
  const opened = await openMetadata(config, { store, fault, closers, runs, onProblem })
  const { metadata, node, membership, clusterId } = opened
  for (const [flag, bareStore] of bare) {
    const writableForMs = buckets.has(flag) ? meteredProbeMs : 0
    readiness.watch(storeProbe({ name: flag, store: bareStore, nodeId: node.nodeId, writableForMs }))
  }
  for (const bucket of buckets.values()) {
    const uploads = abortOldUploads(
      bucket,
      () => membership.leads,
      (error) => onProblem('looking for abandoned uploads failed', error),
    )
    closers.add(() => uploads.stop())
  }
  readiness.watch(metadataProbe(metadata))
  const schemas = openSchemas(metadata)
  closers.add(() => schemas.close())

  const fenced = Promise.withResolvers<'fenced'>()
  const engine = await explained('log', config, () =>
    openLog(
      {
        store,
        wal,
        metadata,
        node,
        clock: systemClock,
        format: recordBatchEntries,
        leads: () => membership.leads,
        onProblem,
      },
      logSettings(config),
    ),
  )
  closers.add(() => engine.close())
  metrics.watchLog(engine)
  engine.onFenced = () => {
    readiness.become('fenced')
    fenced.resolve('fenced')
  }

  const partitionsMax = config.kafka?.partitionsMax ?? 1
  const streams = await openStreams(
    { log: engine, metadata, node, membership, clusterId, clock: systemClock, schemas, onProblem },
    { partitionsMax },
  )
  closers.add(() => streams.close())

  const doors = new Doors()
  closers.add(() => doors.close())
  for (const listenerConfig of config.http.listeners) {
    const listener = await openHttp(listenerConfig, config.http, { streams, schemas, metrics, log })
    doors.add(listenerConfig.flag, listener)
  }
  if (config.schemaRegistry !== null) {
    const listener = await openSchemaRegistryListener(config.schemaRegistry, config.http, { schemas, metrics, log })
    doors.add('schema-registry-listen', listener)
  }
  const kafka =
    config.kafka === null
      ? null
      : await openKafka(config.kafka, { streams, schemas, membership, observer: metrics.kafka, log })
  if (kafka !== null) doors.add('kafka-listen', kafka.listener)

  const http = doors.where('listen')
  const addresses = addressesOf(config, { kafka: doors.where('kafka-listen'), http })
  await explained('metadata', config, () => metadata.nodes.setAddresses(node, addresses))
  watch.show(
    adminBackend({
      streams,
      metadata,
      membership,
      isAlone: config.metadata.kind === 'sqlite',
      readiness,
      groups: kafka?.groups ?? null,
      httpAddress: advertisedHttpAddress(config.http, http?.port),
      kafkaAddress: config.kafka && kafka && formatHostPort(config.kafka.advertise ?? kafka.listener),
    }),
    http !== null && config.http.listeners[0]?.protocol === 'pico' ? urlOf(http) : null,
  )
  readiness.become('serving')
  for (const promise of storagePromises(config)) log.warn(promise)
  sayWhere(config, doors, admin, log)
  return {
    ...node,
    kafka: doors.where('kafka-listen'),
    http,
    durableStreams: doors.where('ds-listen'),
    schemaRegistry: doors.where('schema-registry-listen'),
    admin: admin && { host: admin.host, port: admin.port },
    fenced: fenced.promise,
    close: () => close(config, { watch, closers, streams, membership }),
  }
}

/** When all is open, so that a start that fails says why and nothing else. */
function sayWhere({ http }: ServerConfig, doors: Doors, admin: HostPort | null, log: Logger): void {
  for (const { flag, protocol, listen } of http.listeners) {
    const spoken = protocol === 'pico' ? 'Pico protocol' : 'Durable Streams'
    log.info(`serving streams over HTTP (${spoken}) on ${urlOf(doors.where(flag) ?? listen)}`)
  }
  const kafka = doors.where('kafka-listen')
  if (kafka !== null) log.info(`serving Kafka clients on ${formatHostPort(kafka)}`)
  const registry = doors.where('schema-registry-listen')
  if (registry !== null) log.info(`serving schemas in the protocol of Confluent's registry on ${urlOf(registry)}`)
  if (http.listeners.length === 0 && kafka === null) log.warn('serving no streams: --no-http and --no-kafka')
  if (admin !== null) log.info(`serving health, metrics and the admin API on ${urlOf(admin)}`)
}

interface Closing {
  readonly watch: Watch
  readonly closers: Closers
  readonly streams: Streams
  readonly membership: Membership
}

async function close(
  { shutdownDrainMs }: ServerConfig,
  { watch: { readiness }, closers, streams, membership }: Closing,
): Promise<void> {
  readiness.become('draining')
  if (readiness.state === 'draining') {
    if (shutdownDrainMs > 0) await new Promise((resolve) => setTimeout(resolve, shutdownDrainMs))
    // While others are told who has the streams now, there is somebody to tell them.
    if (membership.nodes.some(({ nodeId }) => nodeId !== membership.node.nodeId)) await streams.handOver()
  }
  await closers.close()
}

/** The listeners that clients come through: they close together, so that one slow request does not keep the others waiting. */
class Doors {
  readonly #listeners = new Map<string, Pick<HttpListener, 'host' | 'port' | 'close'>>()

  add(flag: string, listener: Pick<HttpListener, 'host' | 'port' | 'close'>): void {
    this.#listeners.set(flag, listener)
  }

  where(flag: string): HostPort | null {
    const listener = this.#listeners.get(flag)
    return listener === undefined ? null : { host: listener.host, port: listener.port }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#listeners.values()].map((listener) => listener.close(drainMs)))
  }
}

function logSettings({
  wal,
  walCacheBytes,
  blockCacheBytes,
  packBytes,
  packIntervalMs,
  maintenanceIntervalMs,
}: ServerConfig): Partial<LogSettings> {
  return {
    logCacheBytes: walCacheBytes,
    blockCacheBytes,
    packBytes,
    packIntervalMs,
    maintenanceIntervalMs,
    ...(wal.batchIntervalMs !== undefined && { flushIntervalMs: wal.batchIntervalMs }),
    ...(wal.batchBytesMax !== undefined && { flushBytesMax: wal.batchBytesMax }),
    ...(wal.unflushedBytesMax !== undefined && { unflushedBytesMax: wal.unflushedBytesMax }),
    ...(wal.uploadsInFlightMax !== undefined && { flushesInFlightMax: wal.uploadsInFlightMax }),
  }
}
