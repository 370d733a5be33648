import type { Chunk } from './data-object.ts'

export interface BlockCache {
  /**
   * The verified bytes of `chunks[index]` of object `key`. One ranged GET whoever waits; a reader that goes on to the next chunk
   * grows a readahead window (up to the setting) fetched in larger GETs. Synchronous when the bytes are in memory.
   * The view stays valid for as long as it is held (it is never overwritten), even after eviction.
   * @throws ObjectCorruptError naming the key and position when bytes do not match their checksum.
   */
  read(key: string, chunks: readonly Chunk[], index: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array>
  /** Forgets an object that is about to be deleted. */
  drop(key: string): void
  readonly sizeBytes: number
}
