import { openBlockCache } from '@pico/storage'
import { adoptLeftWal } from './adopt.ts'
import { LogEngine } from './engine.ts'
import { LocalWal } from './local-wal.ts'
import type { Log, LogComponents } from './log.ts'
import { defaultLogSettings, type LogSettings } from './settings.ts'
import { SharedWal } from './shared-wal.ts'
import { StoredEntries } from './stored-entries.ts'
import type { Wal } from './wal.ts'

/**
 * Opens the log for a freshly registered node epoch: takes over what earlier epochs left in the WAL, then is ready to append.
 * @throws SegmentDamagedError, MetadataUnavailableError, FencedError, and what the store throws.
 */
export async function openLog(components: LogComponents, settings: Partial<LogSettings> = {}): Promise<Log> {
  const inForce: LogSettings = { ...defaultLogSettings, ...settings }
  const adopted = await adoptLeftWal(components)
  const { store, wal, format } = components
  const cacheSettings = { capacityBytes: inForce.blockCacheBytes, readaheadBytesMax: inForce.readaheadBytesMax }
  const dataBlocks = openBlockCache({ store }, cacheSettings)
  const walBlocks = wal.store === store ? dataBlocks : openBlockCache({ store: wal.store }, cacheSettings)
  const stored = new StoredEntries({ store, format, dataBlocks, walBlocks })
  return new LogEngine(components, inForce, { wal: openWal(components, inForce), stored, adopted })
}

function openWal(components: LogComponents, settings: LogSettings): Wal {
  const { wal, metadata, node } = components
  return wal.kind === 'local'
    ? new LocalWal(wal.store, metadata, node, settings.segmentBytes)
    : new SharedWal({ ...components, store: wal.store }, settings)
}
