import { StartupError } from './exit-errors.ts'
import type { MetadataUrl } from './metadata-url.ts'
import type { GivenWalUri, StoreUri, WalUri } from './store-uri.ts'

/**
 * Which write-ahead log. One in segment files is for one process that has both the database and the folder for itself: its frames are
 * the commit, so that no other node could take over what this one has acknowledged.
 * @throws StartupError
 */
export function walConfig(given: GivenWalUri | undefined, storage: StoreUri, metadata: MetadataUrl): WalUri {
  const kind = given?.kind ?? (metadata.kind === 'postgres' ? 'object' : 'segment')
  if (metadata.kind === 'postgres' && kind === 'segment') {
    throw new StartupError(
      '--wal kind=segment keeps acknowledged records in files of one node, and with --meta-url postgres:// others have to be able to take them over: use kind=object',
    )
  }
  return { ...(given ?? storage), kind }
}
