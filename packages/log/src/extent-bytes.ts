import { crc32c } from '@pico/binary'
import type { Extent } from '@pico/metadata'
import { ObjectCorruptError, type ObjectStore } from '@pico/storage'
import type { LogComponents } from './log.ts'
import { partOf, type StoredEntries } from './stored-entries.ts'

/**
 * An extent's bytes, chunk by chunk, past the caches: each verified by its checksum before what is wanted of it is given out. They are
 * borrowed until the next ones are asked for, whose memory is the same: a merge of gigabytes would make the collector run all the time.
 */
export async function* extentBytes(
  { store, wal }: Pick<LogComponents, 'store' | 'wal'>,
  stored: StoredEntries,
  extent: Extent,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const source: ObjectStore = extent.crc32c === null ? store : wal.store
  let memory: Uint8Array = new Uint8Array(0)
  for (const chunk of await stored.chunksOf(extent)) {
    const endsBefore = chunk.position + chunk.lengthBytes <= extent.position
    if (endsBefore || chunk.position >= extent.position + extent.lengthBytes) continue
    const range = { offset: chunk.position, length: chunk.lengthBytes }
    if (memory.length < range.length) memory = Buffer.allocUnsafeSlow(range.length)
    const bytes = await source.get(extent.objectKey, range, { signal, into: memory.subarray(0, range.length) })
    if (crc32c(bytes) !== chunk.crc32c) {
      throw new ObjectCorruptError(extent.objectKey, chunk.position, 'bytes do not match their checksum')
    }
    yield partOf(extent, chunk, bytes)
  }
}
