import { StartupError } from './exit-errors.ts'
import type { MetadataUrl } from './metadata-url.ts'
import type { GivenWalUri, StoreUri, WalUri } from './store-uri.ts'

/** Puts cost money, and what waits a quarter of a second shares one. */
const s3Defaults = { batchIntervalMs: 250, uploadsInFlightMax: 4 }

/**
 * Which write-ahead log: beside the objects when nothing is said of it. One in segment files is for one process that has both the
 * database and the folder for itself: its frames are the commit, so that no other node could take over what this one has acknowledged.
 * @throws StartupError
 */
export function walConfig(given: GivenWalUri | undefined, storage: StoreUri, metadata: MetadataUrl): WalUri {
  const uri = given ?? beside(storage)
  const isOnS3 = uri.place.scheme === 's3'
  const kind = uri.kind ?? (isOnS3 || metadata.kind === 'postgres' ? 'object' : 'segment')
  if (metadata.kind === 'postgres' && kind === 'segment') {
    throw new StartupError(
      '--wal kind=segment keeps acknowledged records in files of one node, and with --meta-url postgres:// others have to be able to take them over: use kind=object',
    )
  }
  return { ...(isOnS3 && s3Defaults), ...uri, kind }
}

/** Not of its storage class: objects of the log live for a minute. */
function beside({ bucketId, place }: StoreUri): GivenWalUri {
  if (place.scheme === 'file') return { bucketId, place }
  const { storageClass: _, ...walPlace } = place
  return { bucketId, place: walPlace }
}
