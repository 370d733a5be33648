import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import type { Closers } from './closers.ts'
import { StartupError } from './exit-errors.ts'
import { type FaultPoint, metadataWithFault, storeWithFault } from './faults.ts'
import { formatHostPort } from './host-port.ts'
import { advertisedHttpAddress } from './http-config.ts'
import { type MetadataUrl, shownDatabase } from './metadata-url.ts'
import { probePrefix } from './probes.ts'
import type { ServerConfig } from './serve-config.ts'
import { serveFlags } from './serve-flags.ts'
import { explained } from './startup-problems.ts'

type FileStore = ObjectStore & SegmentStore

export interface OpenedStores {
  readonly store: FileStore
  readonly walStore: FileStore
  /** What they are made of, by the flag that names it, without faults: for probes, which must not count as what faults count. */
  readonly bare: ReadonlyMap<'storage' | 'wal', ObjectStore>
}

export async function openStores(
  config: ServerConfig,
  fault: FaultPoint | null,
  closers: Closers,
): Promise<OpenedStores> {
  const bare = new Map<'storage' | 'wal', ObjectStore>()
  const openOne = async (flag: 'storage' | 'wal') => {
    const opened = await explained(flag, config, () => openFileStore(config[flag].folder))
    closers.add(() => opened.close())
    bare.set(flag, opened)
    return storeWithFault(opened, fault)
  }
  const store = await openOne('storage')
  const walStore = config.wal.folder === config.storage.folder ? store : await openOne('wal')
  return { store, walStore, bare }
}

export async function openMetadata(
  config: ServerConfig,
  store: ObjectStore,
  fault: FaultPoint | null,
  closers: Closers,
): Promise<{ metadata: Metadata; node: NodeIdentity; clusterId: string }> {
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
    const node = await metadata.nodes.register(
      { nodeId: config.nodeId, addresses: addressesOf(config), slots: 1 },
      Date.now(),
    )
    await requireOwnObjects(config, store, metadata, node)
    return { metadata, node, clusterId }
  })
}

function openDatabase(metadata: MetadataUrl): Promise<Metadata> {
  return metadata.kind === 'postgres'
    ? openPostgresMetadata({ url: metadata.url })
    : openSqliteMetadata({ path: metadata.path })
}

/** As other nodes and operators are told them. */
function addressesOf({ kafka, http }: ServerConfig): Record<string, string> {
  const httpAddress = advertisedHttpAddress(http)
  return {
    ...(kafka === null ? {} : { kafka: formatHostPort(kafka.advertise ?? kafka.listen) }),
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
    if (key.startsWith(probePrefix)) continue // another node's, at this moment
    throw new StartupError(
      `--storage ${config.storage.folder} holds objects (${key}) that the database ${shownDatabase(config.metadata)} knows nothing about: give the --meta-url that belongs to them, or another folder`,
    )
  }
}
