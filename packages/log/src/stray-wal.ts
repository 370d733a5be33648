import type { LogComponents } from './log.ts'

/** Keys looked up at a time. */
const pageKeys = 1000

/**
 * Deletes what lies under a prefix of the WAL, was put before `beforeMs`, and no row knows: uploads that were never committed, files
 * whose rows were ended. Returns how many.
 */
export async function dropStrays(
  { metadata, wal }: Pick<LogComponents, 'metadata' | 'wal'>,
  prefix: string,
  beforeMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let dropped = 0
  let page: string[] = []
  const drop = async () => {
    const known = await metadata.log.knownKeys(page)
    const strays = page.filter((key) => !known.has(key))
    if (strays.length > 0) await wal.store.delete(strays)
    dropped += strays.length
    page = []
  }
  for await (const { key, modifiedAtMs } of wal.store.list(prefix, signal ? { signal } : {})) {
    if (modifiedAtMs < beforeMs) page.push(key)
    if (page.length >= pageKeys) await drop()
  }
  if (page.length > 0) await drop()
  return dropped
}
