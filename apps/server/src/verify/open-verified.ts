import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { isWalKey } from '@pico/log'
import { DatabaseLockedError, type Metadata } from '@pico/metadata'
import { openPostgresMetadata } from '@pico/metadata/postgres'
import { openSqliteMetadata } from '@pico/metadata/sqlite'
import type { ObjectStore } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import type { Closers } from '../closers.ts'
import { StartupError } from '../exit-errors.ts'
import type { ServerConfig } from '../serve-config.ts'
import { shownPlace } from '../shown-place.ts'
import { explained } from '../startup-problems.ts'
import type { Place, VerifiedSystem } from './verified-system.ts'

/** Opens what a server with these flags would serve, and registers nobody. @throws StartupError naming the flag to look at */
export async function openVerified(config: ServerConfig, closers: Closers): Promise<VerifiedSystem> {
  const metadata = await explained('metadata', config, () => openDatabase(config))
  closers.add(() => metadata.close())
  const storage = await openPlace(config, 'storage', closers)
  if (isDeepStrictEqual(config.storage.place, withoutClass(config))) {
    return { metadata, places: [{ ...storage, holds: () => true }] }
  }
  const wal = await openPlace(config, 'wal', closers)
  const places: Place[] = [
    { ...storage, holds: (key) => !isWalKey(key) },
    { ...wal, holds: isWalKey },
  ]
  return { metadata, places }
}

/** Where the write-ahead log is, whatever its class: that is of what is put, and nothing is put here. */
function withoutClass({ storage, wal }: ServerConfig): ServerConfig['wal']['place'] {
  const { place } = wal
  if (place.scheme !== 's3' || storage.place.scheme !== 's3' || storage.place.storageClass === undefined) return place
  return { ...place, storageClass: storage.place.storageClass }
}

async function openDatabase({ metadata }: ServerConfig): Promise<Metadata> {
  if (metadata.kind === 'postgres') return openPostgresMetadata({ url: metadata.url, asItIs: true })
  try {
    return await openSqliteMetadata({ path: metadata.path, asItIs: true })
  } catch (error) {
    if (!(error instanceof DatabaseLockedError)) throw error
    throw new StartupError(
      `the database ${metadata.path} (--meta-url) is in use: a server on SQLite has it for itself, and it can be verified when that has stopped`,
      { cause: error },
    )
  }
}

async function openPlace(config: ServerConfig, flag: 'storage' | 'wal', closers: Closers) {
  const { place } = config[flag]
  const shown = shownPlace(config[flag])
  const store: ObjectStore = await explained(flag, config, async () => {
    if (place.scheme === 'file') {
      await requireFolder(place.folder, `${shown} (--${flag})`)
      return openFileStore(place.folder)
    }
    const { openS3Store } = await import('@pico/storage/s3')
    return openS3Store(place)
  })
  closers.add(() => store.close())
  return { shown, store }
}

/** A folder that is not there would be made, and everything be missing in it. */
async function requireFolder(folder: string, shown: string): Promise<void> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  if (found?.isDirectory() !== true) throw new StartupError(`${shown} is not there`)
}
