import type { Metadata, NodeIdentity } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore } from '@pico/storage'
import type { Closers } from './closers.ts'
import { StartupError } from './exit-errors.ts'
import { type FaultPoint, metadataWithFault } from './faults.ts'
import { formatHostPort } from './host-port.ts'
import { advertisedHttpAddress } from './http-config.ts'
import { type MetadataUrl, shownDatabase } from './metadata-url.ts'
import { probePrefix } from './probes.ts'
import type { ServerConfig } from './serve-config.ts'
import { serveFlags } from './serve-flags.ts'
import { shownPlace } from './shown-place.ts'
import { explained } from './startup-problems.ts'

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
    await requireNoOtherNode(config, metadata)
    const node = await metadata.nodes.register(
      { nodeId: config.nodeId, addresses: addressesOf(config), slots: 1 },
      Date.now(),
    )
    await requireOwnObjects(config, store, metadata, node)
    return { metadata, node, clusterId }
  })
}

/** A database serves one node so far: of two, each would merge and delete objects that the other still reads. */
async function requireNoOtherNode({ nodeId }: ServerConfig, metadata: Metadata): Promise<void> {
  const other = (await metadata.nodes.list()).find((node) => node.nodeId !== nodeId && !node.isFenced)
  if (other === undefined) return
  throw new StartupError(
    `the database is node ${other.nodeId}'s and several nodes are not served yet: start this one with --node-id ${other.nodeId}, which ends the other if it still runs`,
  )
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
    if (key.startsWith(probePrefix)) continue // another node's, at this moment, or left by a process that was killed over it
    throw new StartupError(
      `--storage (${shownPlace(config.storage)}) holds objects (${key}) that the database ${shownDatabase(config.metadata)} knows nothing about: give the --meta-url that belongs to them, or another place`,
    )
  }
}
