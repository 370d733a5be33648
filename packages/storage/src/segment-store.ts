import type { WriteHaste } from './object-store.ts'

export interface CreateOptions extends WriteHaste {
  /** The key of a segment that nobody refers to any more, whose file becomes the new one. */
  readonly recycle?: string
}

/**
 * Fixed-size files for the local write-ahead log. What was written reads back through the `ObjectStore` over the same folder,
 * by the same key.
 */
export interface SegmentStore {
  /**
   * Creates the segment `key`, `sizeBytes` long, every block allocated, durable when resolved: a later write and sync changes no
   * file metadata. With `recycle`, the file of that (no longer referenced) key becomes the new one by a rename, its old bytes
   * still in it; when it is missing or of another size, a new file is made.
   * @throws SegmentExistsError when there is a segment or object `key`: it may hold acknowledged data. StoreFailedError.
   */
  create(key: string, sizeBytes: number, options?: CreateOptions): Promise<SegmentWriter>
}

export interface SegmentWriter {
  readonly key: string
  readonly sizeBytes: number
  /**
   * Writes at `position` and syncs: resolves when the bytes are durable. Several writes may be under way at once, each in a place of
   * its own, and settle in any order.
   * After a rejection nothing is known about those bytes, and the writer refuses every further write (the kernel may have
   * dropped dirty pages, so a retried sync would prove nothing).
   * @throws SegmentFailedError
   */
  write(position: number, buffers: readonly Uint8Array[]): Promise<void>
  /** Waits for the writes that are under way. */
  close(): Promise<void>
}
