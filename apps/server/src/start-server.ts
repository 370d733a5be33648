import {
  createKafkaApi,
  defaultKafkaApiSettings,
  defaultListenSettings,
  type KafkaListener,
  listenKafka,
} from '@pico/kafka-api'
import { type LogSettings, openLog, systemClock } from '@pico/log'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import { openStreams, recordBatchEntries, type Streams } from '@pico/streams'
import type { Logger } from 'pino'
import { Closers } from './closers.ts'
import { StartupError } from './exit-errors.ts'
import { type FaultPoint, metadataWithFault, storeWithFault } from './faults.ts'
import { formatHostPort, type HostPort } from './host-port.ts'
import type { KafkaConfig, ServerConfig } from './serve-config.ts'
import { serveFlags } from './serve-flags.ts'
import { explained } from './startup-problems.ts'

export interface ServerComponents {
  readonly log: Logger
  readonly fault?: FaultPoint | null
}

export interface RunningServer {
  readonly nodeId: number
  readonly nodeEpoch: number
  /** Where Kafka clients connect; null when they cannot. */
  readonly kafka: HostPort | null
  /** Resolves when another node epoch has taken over: this one may not go on. */
  readonly fenced: Promise<'fenced'>
  /** Stops accepting, lets requests at hand finish, makes everything durable, closes. */
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
  { log, fault = null }: ServerComponents,
  closers: Closers,
): Promise<RunningServer> {
  const { store, walStore } = await openStores(config, fault, closers)
  const { metadata, node, clusterId } = await openMetadata(config, store, fault, closers)

  const fenced = Promise.withResolvers<'fenced'>()
  const engine = await explained('log', config, () =>
    openLog(
      {
        store,
        wal: config.wal.kind === 'segment' ? { kind: 'local', store: walStore } : { kind: 'shared', store: walStore },
        metadata,
        node,
        clock: systemClock,
        format: recordBatchEntries,
        onProblem: (message, error) => log.warn({ err: error }, message),
      },
      logSettings(config),
    ),
  )
  closers.add(() => engine.close())
  engine.onFenced = () => fenced.resolve('fenced')

  const partitionsMax = config.kafka?.partitionsMax ?? 1
  const streams = await openStreams({ log: engine, metadata, node, clusterId, clock: systemClock }, { partitionsMax })
  closers.add(() => streams.close())

  const listener = config.kafka === null ? null : await openKafka(config, config.kafka, streams, log)
  if (listener !== null) closers.add(() => listener.close(drainMs))
  const kafka = listener === null ? null : { host: listener.host, port: listener.port }
  if (kafka === null) log.info('serving nobody: --no-kafka')
  else log.info(`serving Kafka clients on ${formatHostPort(kafka)}`)
  return { ...node, kafka, fenced: fenced.promise, close: () => closers.close() }
}

type FileStore = ObjectStore & SegmentStore

async function openStores(
  config: ServerConfig,
  fault: FaultPoint | null,
  closers: Closers,
): Promise<{ store: FileStore; walStore: FileStore }> {
  const openOne = async (flag: 'storage' | 'wal') => {
    const opened = await explained(flag, config, () => openFileStore(config[flag].folder))
    closers.add(() => opened.close())
    return storeWithFault(opened, fault)
  }
  const store = await openOne('storage')
  const walStore = config.wal.folder === config.storage.folder ? store : await openOne('wal')
  return { store, walStore }
}

async function openMetadata(config: ServerConfig, store: ObjectStore, fault: FaultPoint | null, closers: Closers) {
  return explained('metadata', config, async () => {
    const opened = await openSqliteMetadata({ path: config.metadata.path })
    closers.add(() => opened.close())
    const metadata = metadataWithFault(opened, fault)
    const clusterId = await metadata.nodes.clusterId(config.clusterId)
    if (config.clusterId !== clusterId && config.clusterId !== serveFlags['cluster-id'].default) {
      throw new StartupError(
        `the database was made for the cluster ${clusterId}, not ${config.clusterId} (--cluster-id)`,
      )
    }
    const addresses =
      config.kafka === null ? {} : { kafka: formatHostPort(config.kafka.advertise ?? config.kafka.listen) }
    const node = await metadata.nodes.register({ nodeId: config.nodeId, addresses, slots: 1 }, Date.now())
    await requireOwnObjects(config, store, metadata, node)
    return { metadata, node, clusterId }
  })
}

/**
 * A new database with old objects beside it knows nothing of them: serving would begin at offset 0 again, over records that somebody
 * still believes in.
 */
async function requireOwnObjects(
  config: ServerConfig,
  store: ObjectStore,
  metadata: Metadata,
  node: NodeIdentity,
): Promise<void> {
  if (node.nodeEpoch > 1 || (await metadata.streams.count()) > 0) return
  for await (const { key } of store.list('')) {
    throw new StartupError(
      `--storage ${config.storage.folder} holds objects (${key}) that the database ${config.metadata.path} knows nothing about: give the --meta-url that belongs to them, or another folder`,
    )
  }
}

function logSettings({
  wal,
  walCacheBytes,
  blockCacheBytes,
  packBytes,
  packIntervalMs,
}: ServerConfig): Partial<LogSettings> {
  return {
    logCacheBytes: walCacheBytes,
    blockCacheBytes,
    packBytes,
    packIntervalMs,
    ...(wal.batchIntervalMs !== undefined && { flushIntervalMs: wal.batchIntervalMs }),
    ...(wal.batchBytesMax !== undefined && { flushBytesMax: wal.batchBytesMax }),
    ...(wal.unflushedBytesMax !== undefined && { unflushedBytesMax: wal.unflushedBytesMax }),
    ...(wal.uploadsInFlightMax !== undefined && { flushesInFlightMax: wal.uploadsInFlightMax }),
  }
}

function openKafka(config: ServerConfig, kafka: KafkaConfig, streams: Streams, log: Logger): Promise<KafkaListener> {
  let advertised = kafka.advertise ?? kafka.listen
  const { groups } = defaultKafkaApiSettings
  const api = createKafkaApi(
    {
      streams,
      cluster: { brokers: () => [{ nodeId: streams.nodeId, ...advertised, rack: null }] },
      clock: systemClock,
      log,
    },
    {
      ...defaultKafkaApiSettings,
      autoCreateTopics: kafka.autoCreateTopics,
      replicationFactor: kafka.replicationFactor,
      groups: { ...groups, protocol: { ...groups.protocol, ...kafka.groups } },
    },
  )
  return explained('kafka', config, async () => {
    const { requestBytesMax, idleTimeoutMs, listen } = kafka
    const listener = await listenKafka(
      { api, log },
      { ...defaultListenSettings, ...listen, requestBytesMax, idleTimeoutMs },
    )
    if (kafka.advertise === undefined) advertised = { host: listener.host, port: listener.port }
    return listener
  })
}
