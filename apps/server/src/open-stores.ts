import { isDeepStrictEqual } from 'node:util'
import type { WalComponents } from '@pico/log'
import type { ObjectStore, SegmentStore } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import type { S3Place, S3Store } from '@pico/storage/s3'
import type { Closers } from './closers.ts'
import { type FaultPoint, storeWithFault } from './faults.ts'
import type { ServerConfig } from './serve-config.ts'
import { explained } from './startup-problems.ts'

export interface OpenedStores {
  readonly store: ObjectStore
  readonly wal: WalComponents
  /** What they are made of, by the flag that names it, without faults: for probes, which must not count as what faults count. */
  readonly bare: ReadonlyMap<'storage' | 'wal', ObjectStore>
  /** Those of them that are in S3. */
  readonly buckets: ReadonlyMap<'storage' | 'wal', S3Store>
}

interface Opening {
  readonly config: ServerConfig
  readonly fault: FaultPoint | null
  readonly closers: Closers
}

type Flag = 'storage' | 'wal'

interface Found {
  readonly bare: Map<Flag, ObjectStore>
  readonly buckets: Map<Flag, S3Store>
}

/** @throws StartupError naming --storage or --wal */
export async function openStores(opening: Opening): Promise<OpenedStores> {
  const { storage, wal } = opening.config
  const bare = new Map<Flag, ObjectStore>()
  const buckets = new Map<Flag, S3Store>()
  const found = { bare, buckets }
  const isOne = isDeepStrictEqual(storage.place, wal.place)
  if (wal.kind === 'object') {
    const store = await openPlace(opening, found, 'storage')
    return {
      store,
      wal: { kind: 'shared', store: isOne ? store : await openPlace(opening, found, 'wal') },
      bare,
      buckets,
    }
  }
  if (isOne) {
    const store = await openFolder(opening, found, 'storage')
    return { store, wal: { kind: 'local', store }, bare, buckets }
  }
  const store = await openPlace(opening, found, 'storage')
  return { store, wal: { kind: 'local', store: await openFolder(opening, found, 'wal') }, bare, buckets }
}

async function openPlace(opening: Opening, found: Found, flag: Flag): Promise<ObjectStore> {
  const { place } = opening.config[flag]
  if (place.scheme === 'file') return openFolder(opening, found, flag)
  const { config, closers, fault } = opening
  const opened = await explained(flag, config, () => openBucket(place))
  closers.add(() => opened.close())
  found.bare.set(flag, opened)
  found.buckets.set(flag, opened)
  return storeWithFault(opened, fault)
}

/** The SDK is loaded only where it is needed: it takes as long as all the rest. */
async function openBucket(place: S3Place): Promise<S3Store> {
  const { openS3Store } = await import('@pico/storage/s3')
  return openS3Store(place)
}

async function openFolder(
  { config, closers, fault }: Opening,
  { bare }: Found,
  flag: Flag,
): Promise<ObjectStore & SegmentStore> {
  const { place } = config[flag]
  if (place.scheme !== 'file') throw new Error(`--${flag} is no folder`)
  const opened = await explained(flag, config, () => openFileStore(place.folder))
  closers.add(() => opened.close())
  bare.set(flag, opened)
  return storeWithFault(opened, fault)
}
