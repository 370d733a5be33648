import { systemClock } from '@pico/log'
import type { Metadata, NodeIdentity, NodeRecord } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore } from '@pico/storage'
import { joinAlone, joinCluster, type Membership } from '@pico/streams'
import type { Closers } from './closers.ts'
import { ReplacedError, StartupError } from './exit-errors.ts'
import { type FaultPoint, metadataWithFault } from './faults.ts'
import { formatHostPort, type HostPort } from './host-port.ts'
import { advertisedHttpAddress } from './http-config.ts'
import { type MetadataUrl, shownDatabase } from './metadata-url.ts'
import { probePrefix } from './probes.ts'
import type { ServerConfig } from './serve-config.ts'
import { serveFlags } from './serve-flags.ts'
import { shownPlace } from './shown-place.ts'
import { explained } from './startup-problems.ts'

export interface OpenedMetadata {
  readonly metadata: Metadata
  readonly node: NodeIdentity
  readonly membership: Membership
  readonly clusterId: string
}

/** What this process has been of its node. */
export interface NodeRuns {
  /** The run that it registered last; null before the first, and where the answer to that was lost. */
  latest: NodeIdentity | null
}

export interface MetadataParts {
  readonly store: ObjectStore
  readonly fault: FaultPoint | null
  readonly closers: Closers
  readonly runs: NodeRuns
  readonly onProblem: (message: string, error: unknown) => void
}

/** Opens the database, registers the node, and joins the others. @throws StartupError */
export async function openMetadata(
  config: ServerConfig,
  { store, fault, closers, runs, onProblem }: MetadataParts,
): Promise<OpenedMetadata> {
  return explained('metadata', config, async () => {
    const opened = await openDatabase(config.metadata)
    closers.add(() => opened.close())
    const metadata = metadataWithFault(opened, fault)
    const clusterId = await metadata.nodes.clusterId(config.clusterId)
    if (config.clusterId !== clusterId && config.clusterId !== serveFlags['cluster-id'].default) {
      throw new StartupError(
        `the database was made for the cluster ${clusterId}, not ${config.clusterId} (--cluster-id)`,
      )
    }
    const known = (await metadata.nodes.list()).find(({ nodeId }) => nodeId === config.nodeId)
    if (runs.latest !== null) requireNoSuccessor(runs.latest, known)
    const slots = known?.slots ?? config.slots
    runs.latest = null
    const node = await metadata.nodes.register(
      { nodeId: config.nodeId, addresses: addressesOf(config), slots },
      Date.now(),
    )
    runs.latest = node
    await requireOwnObjects(config, store, metadata, node)
    const { heartbeatMs, nodeTtlMs: ttlMs } = config
    const parts = { metadata, node, clock: systemClock, onProblem }
    // A SQLite database has one process for as long as that lives, which no other can find dead.
    const isShared = config.metadata.kind === 'postgres'
    const membership = await (isShared ? joinCluster(parts, { heartbeatMs, ttlMs }) : joinAlone(parts))
    closers.add(() => membership.close())
    return { metadata, node, membership, clusterId }
  })
}

/** Two processes with one node id would fence each other for ever. */
function requireNoSuccessor(latest: NodeIdentity, known: NodeRecord | undefined): void {
  if (known === undefined || known.nodeEpoch === latest.nodeEpoch) return
  throw new ReplacedError(`another process has started as node ${latest.nodeId} (--node-id), and has fenced this one`)
}

function openDatabase(metadata: MetadataUrl): Promise<Metadata> {
  return metadata.kind === 'postgres'
    ? openPostgresMetadata({ url: metadata.url })
    : openSqliteMetadata({ path: metadata.path })
}

/** As other nodes and operators are told them. `bound`: where the listeners turned out to listen. */
export function addressesOf(
  { kafka, http }: ServerConfig,
  bound: { readonly kafka?: HostPort | null; readonly http?: HostPort | null } = {},
): Record<string, string> {
  const httpAddress = advertisedHttpAddress(http, bound.http?.port)
  return {
    ...(kafka === null ? {} : { kafka: formatHostPort(kafka.advertise ?? bound.kafka ?? kafka.listen) }),
    ...(httpAddress === null ? {} : { http: httpAddress }),
  }
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
    if (key.startsWith(probePrefix)) continue // another node's, at this moment, or left by a process that was killed over it
    throw new StartupError(
      `--storage (${shownPlace(config.storage)}) holds objects (${key}) that the database ${shownDatabase(config.metadata)} knows nothing about: give the --meta-url that belongs to them, or another place`,
    )
  }
}
